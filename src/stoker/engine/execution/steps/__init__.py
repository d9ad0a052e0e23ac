"""Steps of an operation, each for one resource."""
