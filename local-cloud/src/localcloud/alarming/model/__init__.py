"""The documents of alarms and their rules."""
