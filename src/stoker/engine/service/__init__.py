"""The engine's service for the interfaces: accepts requests, answers queries, stores signals."""
