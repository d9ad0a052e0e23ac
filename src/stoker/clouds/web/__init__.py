"""Addresses that users choose: guarded connections, and downloads from them."""
