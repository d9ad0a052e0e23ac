"""Signed addresses by which servers and alarms call back."""
