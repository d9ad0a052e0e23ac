"""Plans of creates, updates and rollbacks."""
