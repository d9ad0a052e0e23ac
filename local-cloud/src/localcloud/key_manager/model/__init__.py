"""The documents of secrets, containers and orders, and their payloads."""
