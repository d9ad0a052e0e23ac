"""Reads that precede a change: live objects, and the plans of nested stacks."""
