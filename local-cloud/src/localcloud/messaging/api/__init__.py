"""The requests of the messaging API."""
