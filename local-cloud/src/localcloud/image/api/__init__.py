"""The requests of the image API."""
