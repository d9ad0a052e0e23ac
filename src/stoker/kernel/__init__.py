"""Graph, addresses, clock, ids and diagnostics. Knows nothing of stacks."""
