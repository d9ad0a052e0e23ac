"""Processes that evaluate expressions of users."""
