"""Resource types of the container service."""
