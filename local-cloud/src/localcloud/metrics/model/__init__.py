"""The documents and series of metrics, and their measurement."""
