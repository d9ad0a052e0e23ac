"""The identity API: users, projects, roles, tokens, and the catalog of services."""
