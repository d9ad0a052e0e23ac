"""Actions of tasks."""
