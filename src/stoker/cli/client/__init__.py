"""Requests of commands to a service: where it is, credentials, retries."""
