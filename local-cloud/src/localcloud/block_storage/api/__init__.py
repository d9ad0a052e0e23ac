"""The requests of the block storage API."""
