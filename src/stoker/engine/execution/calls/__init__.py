"""Calls of resource types, and the records before and after each."""
