"""Ownership of stacks by engines."""
