"""Text to data, and from data back to its position in the text."""
