"""Requests that start an operation: evaluate them, fetch their files, record them."""
