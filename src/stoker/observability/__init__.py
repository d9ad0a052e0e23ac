"""Metrics, traces and the delays of the event loop."""
