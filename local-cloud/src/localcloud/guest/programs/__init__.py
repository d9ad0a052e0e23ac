"""Programs that a server has beside those of its image."""
