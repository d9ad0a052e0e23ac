"""The requests of the network API."""
