"""Text as data, and the way back from data to its place in the text."""
