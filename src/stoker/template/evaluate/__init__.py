"""Templates with their inputs: what is wrong with them, and the definitions that they give."""
