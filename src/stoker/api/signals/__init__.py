"""Signed addresses for calls from servers and alarms back to the service."""
