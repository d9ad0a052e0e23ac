"""The documents of zones and record sets."""
