"""How fast the service is, and what it needs. Run with ``make bench``."""
