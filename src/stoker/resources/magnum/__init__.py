"""Resource types of the container infrastructure service."""
