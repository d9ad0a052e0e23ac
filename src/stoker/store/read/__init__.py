"""Reads; those that become ready together share a transaction."""
