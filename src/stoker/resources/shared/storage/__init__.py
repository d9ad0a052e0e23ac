"""Volumes and objects that several types use."""
