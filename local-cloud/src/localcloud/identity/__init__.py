"""The identity API: who may do what, and where the services are."""
