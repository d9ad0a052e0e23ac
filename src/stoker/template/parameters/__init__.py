"""Parameters: declarations of templates, and the values that a stack gets for them."""
