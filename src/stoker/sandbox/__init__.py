"""Processes that evaluate texts of users, within limits that the kernel enforces."""
