"""Readers of paths, queries and bodies."""
