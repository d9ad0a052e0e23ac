"""Template text to evaluated resource definitions. Pure: no I/O, no database, no cloud."""
