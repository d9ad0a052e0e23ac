"""Purging, copying, inspecting and encrypting a database anew."""
