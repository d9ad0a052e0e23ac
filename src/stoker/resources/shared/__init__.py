"""Parts that types of several services have in common."""
