"""Code that runs inside a server: its first process, and the user data processor.

The fabric process loads this code before it forks a server, so that a server needs no Python of its
own. It depends only on the standard library and PyYAML, and imports nothing after the fork, because
the server's files may belong to another distribution.
"""
