"""Messages between a process of the service and its service manager, and SIGHUP."""

from __future__ import annotations

import contextlib
import os
import signal
import socket

import click


def is_supervised() -> bool:
    """Return whether SIGHUP means a reload.

    At a terminal, it means that the terminal was closed.
    """
    return not os.isatty(0)


def expect_reloads() -> None:
    """Survive SIGHUP from now on: the configuration that is read at the start is new anyway."""
    if is_supervised():
        # Use a handler, since child processes inherit ignored signals.
        signal.signal(signal.SIGHUP, lambda number, frame: None)


def tell_ready(name: str) -> None:
    """Report readiness on the standard output, and to systemd (``Type=notify``).

    Source: sd_notify(3).
    """
    click.echo(f"ready {name}")
    address = os.environ.get("NOTIFY_SOCKET")
    if address:
        if address.startswith("@"):
            address = f"\0{address[1:]}"
        with (
            contextlib.suppress(OSError),  # its starter may have ended
            socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM | socket.SOCK_CLOEXEC) as to,
        ):
            to.sendto(b"READY=1", address)
