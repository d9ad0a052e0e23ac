"""Authentication of requests, permissions, and credentials for later work."""
