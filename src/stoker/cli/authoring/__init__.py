"""Tools for authors of templates."""
