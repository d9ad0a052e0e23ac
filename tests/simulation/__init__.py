"""Engine, store and dispatch in one process under a virtual clock and a seeded scheduler."""
