"""The types of each service: tables for the harness, and the services where no real one is."""
