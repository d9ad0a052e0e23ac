"""Resource types of the object store service."""
