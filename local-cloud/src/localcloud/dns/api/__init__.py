"""The requests of the DNS API."""
