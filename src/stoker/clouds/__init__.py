"""Access to clouds: sessions, lookups of names, rate limits and errors.

Only this package uses keystoneauth, and openstacksdk for plugins.
"""
