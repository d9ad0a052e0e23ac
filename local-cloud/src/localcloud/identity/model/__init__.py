"""The documents of users, projects and roles, and their rules."""
