"""Databases, connections, transactions and encrypted columns."""
