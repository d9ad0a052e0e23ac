"""Resource types of the shared file system service."""
