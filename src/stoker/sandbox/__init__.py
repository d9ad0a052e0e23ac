"""Processes that compute what users wrote, within limits that the kernel holds."""
