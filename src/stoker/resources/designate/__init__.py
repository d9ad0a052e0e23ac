"""Resource types of the DNS service."""
