"""Resource types of the bare metal service."""
