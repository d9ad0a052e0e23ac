"""The documents of the network service, and the permitted values of their attributes."""
