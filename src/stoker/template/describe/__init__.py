"""Templates, types and functions, described for people and clients."""
