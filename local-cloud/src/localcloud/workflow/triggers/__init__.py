"""Starts of executions at times and on events."""
