"""Signed URLs for callbacks of servers and alarms."""
