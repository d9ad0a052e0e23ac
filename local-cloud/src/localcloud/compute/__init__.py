"""The compute API: servers that are real namespaces and processes on this machine."""
