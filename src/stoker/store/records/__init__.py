"""Rows beside those of stacks, resources and events."""
