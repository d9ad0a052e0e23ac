"""Environments: what users say beside the template."""
