"""Traces the path of a create through the engine."""
