"""Executions of workflows and their tasks."""
