"""Rows other than those of stacks, resources and events."""
