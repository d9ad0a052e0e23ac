"""Resource types of the image service."""
