"""Plans and deployments, and their presentation by commands."""
