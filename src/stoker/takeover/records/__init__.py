"""Builds Stoker's records from rows of Heat. Nothing here reads or writes a database."""
