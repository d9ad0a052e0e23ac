"""Reads of live objects that precede a change."""
