"""The key manager: the API of Barbican, version 1."""
