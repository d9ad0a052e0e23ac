"""The requests of the identity API."""
