"""Actions: what tasks do."""
