"""Formats templates and environments."""
