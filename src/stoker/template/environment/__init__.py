"""Environments: inputs of users beside the template."""
