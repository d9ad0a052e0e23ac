"""The requests of the alarm API."""
