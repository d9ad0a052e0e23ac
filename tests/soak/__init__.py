"""An hour of mixed load and random kills."""
