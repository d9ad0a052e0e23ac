"""Resource types of the alarm service."""
