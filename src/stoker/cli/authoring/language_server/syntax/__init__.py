"""Text to a syntax tree with ranges, also for text that is not complete."""
