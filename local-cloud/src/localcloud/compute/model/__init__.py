"""The documents of servers, flavors, groups, hosts and key pairs."""
