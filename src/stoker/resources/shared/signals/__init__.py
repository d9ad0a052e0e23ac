"""Signals of servers, and software on them."""
