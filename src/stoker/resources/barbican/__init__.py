"""Resource types of the key manager service."""
