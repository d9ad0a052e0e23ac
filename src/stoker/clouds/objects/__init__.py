"""Objects of OpenStack services: their collections, and lookups by name or id."""
