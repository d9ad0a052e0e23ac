"""Reads and writes JSON, in pieces if it is long."""
