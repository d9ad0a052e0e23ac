"""Attacks on a running service, each of which must harm nobody but who sends it."""
