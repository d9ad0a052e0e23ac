"""The requests of the metric API."""
