"""Helpers that the tests of the local cloud share."""
