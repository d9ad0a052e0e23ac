"""Reads, several of which share a transaction."""
