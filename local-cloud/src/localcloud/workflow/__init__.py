"""The workflow service: workflows in Mistral's language, and their engine."""

PREFIX = "/workflow"
"""Where the application mounts it."""
