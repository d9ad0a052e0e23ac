"""The HTTP API of shared file systems; loaded with the first request."""
