"""Threads in which projects take turns, and tasks that run in the background."""
