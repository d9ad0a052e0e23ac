"""Reads a database of Heat; nothing here writes to it."""
