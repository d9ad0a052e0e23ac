"""User data of a server, processed as cloud-init does."""
