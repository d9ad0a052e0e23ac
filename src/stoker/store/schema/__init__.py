"""Tables of the database."""
