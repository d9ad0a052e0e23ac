"""Handlers of requests, by collection."""
