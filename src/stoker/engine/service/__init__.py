"""What the interfaces ask of the engine: requests accepted, questions answered, signals stored."""
