"""Resource types of the compute service."""
