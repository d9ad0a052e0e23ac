"""Triggers, which start executions at certain times and on events."""
