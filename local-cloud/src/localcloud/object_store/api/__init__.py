"""The requests of the object storage API."""
