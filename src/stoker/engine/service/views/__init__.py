"""Requests that read stacks, resources, events and drift."""
