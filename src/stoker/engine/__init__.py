"""Plan, order, execute and recover operations on stacks. Knows no HTTP, SQL or cloud."""
