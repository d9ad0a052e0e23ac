"""Many engines on one database."""
