"""Resource types of the identity service."""
