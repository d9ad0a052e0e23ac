"""Expressions of users, computed in processes that can be ended."""
