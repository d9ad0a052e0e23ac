"""Environments: what users give beside the template."""
