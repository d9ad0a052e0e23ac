"""Rules of lint, by subject."""
