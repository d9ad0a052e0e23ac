"""Completion: the words that fit at the cursor."""
