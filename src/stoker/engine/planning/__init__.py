"""Plans of operations, made before their first action."""
