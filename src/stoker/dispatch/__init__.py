"""Assigns stacks to drivers."""
