"""The block storage API: volumes, snapshots and backups."""
