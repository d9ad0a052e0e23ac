"""The requests of the workflow API."""
