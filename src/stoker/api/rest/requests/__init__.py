"""Parsers of paths, queries and bodies."""
