"""Sessions, name lookups, rate limits and faults of clouds: the only user of openstacksdk."""
