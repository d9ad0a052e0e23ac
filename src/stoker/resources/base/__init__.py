"""The registry of resource types, and the declaration of their properties."""
