"""Evaluates expressions of the template language for a person at a prompt."""
