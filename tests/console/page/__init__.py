"""The page of the console in a real browser."""
