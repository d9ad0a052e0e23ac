"""Typed declarations: properties, attributes, constraints, and the contract of a resource type."""
