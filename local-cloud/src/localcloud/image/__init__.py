"""The image API: what servers are made from."""
