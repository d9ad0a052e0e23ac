"""The files of servers: disks, volumes, shares, archives."""
