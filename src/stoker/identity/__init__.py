"""Authentication of requests, permissions, and credentials for deferred work."""
