"""Finds mistakes, risks and habits in templates and environments."""
