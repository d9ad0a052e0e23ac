"""The language server, through a client over the standard streams and without one."""
