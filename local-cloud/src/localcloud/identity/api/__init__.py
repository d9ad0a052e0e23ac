"""Requests of the identity API."""
