"""Measurements of the speed and memory of the service. Run with ``make bench``."""
