"""What runs inside a server: its first process, and the user data processor.

This code is loaded by the fabric process before a server is forked from it, so that a server
needs no Python of its own. It depends on the standard library and PyYAML alone and loads nothing
after the fork: the server's files may be another distribution's.
"""
