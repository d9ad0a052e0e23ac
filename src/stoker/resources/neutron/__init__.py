"""Resource types of the network service."""
