"""The HTTP side of compute: one module per resource, each with its handlers and its routes."""
