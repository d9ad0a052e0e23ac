"""Calls of resource types, and the commits before and after each."""
