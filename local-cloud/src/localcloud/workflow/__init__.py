"""The workflow service: workflows in Mistral's language, and their engine."""

PREFIX = "/workflow"  # where the application mounts it
