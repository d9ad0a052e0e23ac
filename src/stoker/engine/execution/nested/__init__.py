"""Nested stacks of a resource: their inputs, plans, attributes and ends."""
