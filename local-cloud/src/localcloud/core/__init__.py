"""State, time, events and background work that all services of the cloud share."""
