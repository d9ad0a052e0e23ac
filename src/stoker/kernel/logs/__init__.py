"""Log lines, traces, and the secrets that are hidden in them."""
