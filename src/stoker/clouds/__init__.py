"""Access to clouds: sessions, lookups of names, rate limits and errors.

Only this package uses openstacksdk.
"""
