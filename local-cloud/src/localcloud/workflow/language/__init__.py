"""Mistral's language, version 2: documents, workflows, tasks."""
