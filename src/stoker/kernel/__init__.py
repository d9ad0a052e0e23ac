"""Graph, addresses, clock, ids, diagnostics and logging. Independent of stacks."""
