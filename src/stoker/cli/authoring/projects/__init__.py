"""Starts projects of templates from examples."""
