"""The records and the data of objects, and their limits."""
