"""The requests of the key manager's API."""
