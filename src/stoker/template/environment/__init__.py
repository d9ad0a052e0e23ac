"""Environments: inputs of users in addition to the template."""
