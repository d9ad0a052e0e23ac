"""The documents of the workflow service."""
