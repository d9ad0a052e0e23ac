"""Attacks on a running service. Each must harm its sender only."""
