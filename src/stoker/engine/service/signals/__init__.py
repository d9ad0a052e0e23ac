"""Signals, and reports of software deployments."""
