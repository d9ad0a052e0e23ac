"""Parameters: what templates declare, and the values that a stack gets for them."""
