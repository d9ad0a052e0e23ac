"""Nested stacks of a resource: their inputs, attributes and ends."""
