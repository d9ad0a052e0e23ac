"""JSON: written and read, in pieces if it is long."""
