"""Evaluation of templates with their inputs: diagnostics and definitions."""
