"""Declares the documents of the network service to the fabric."""
