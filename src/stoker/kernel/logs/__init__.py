"""Log lines, traces, and the masking of secrets."""
