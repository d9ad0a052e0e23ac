"""Rehearses an operation in a local cloud that is removed afterwards."""
