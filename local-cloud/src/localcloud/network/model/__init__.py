"""The documents of the network service, and what their attributes may be."""
