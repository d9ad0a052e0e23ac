"""Shared file systems, version 2 of the API of Manila."""
