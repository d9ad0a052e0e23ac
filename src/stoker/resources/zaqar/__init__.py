"""Resource types of the messaging service."""
