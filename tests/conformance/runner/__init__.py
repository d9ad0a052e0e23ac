"""Replays recorded cases against a running service and compares its answers."""
