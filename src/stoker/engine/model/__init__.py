"""The engine's data: records, requests, views, plans, and the Protocols of its dependencies."""
