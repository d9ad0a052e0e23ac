"""Ports at which tests let a cloud listen."""

import socket


def free_port() -> int:
    """Return a port of the loopback interface that is not in use."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])
