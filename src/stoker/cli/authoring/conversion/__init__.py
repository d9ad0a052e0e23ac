"""Converts templates between dialects, and Compose files to templates."""
