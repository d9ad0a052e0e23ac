"""The workflow service: workflows in Mistral's language, and what runs them."""

PREFIX = "/workflow"
"""Where the application mounts it."""
