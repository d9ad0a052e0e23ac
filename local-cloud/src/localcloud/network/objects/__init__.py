"""The kinds of objects of the network API, and how they change."""
