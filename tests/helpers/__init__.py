"""Processes that compute what users wrote."""
