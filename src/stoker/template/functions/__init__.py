"""The functions of the template language: one small function for each, grouped by family."""
