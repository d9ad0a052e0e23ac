"""Tables, migrations and queries: the engine's rows, kept in SQLite or PostgreSQL."""
