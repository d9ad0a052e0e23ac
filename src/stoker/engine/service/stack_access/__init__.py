"""Finding a stack, and the checks that a caller has to pass."""
