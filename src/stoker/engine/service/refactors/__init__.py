"""Refactors: resources that move between stacks and keep their objects."""
