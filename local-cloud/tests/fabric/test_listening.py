"""Listening sockets are read from the kernel's table of sockets, a page at a time."""

from __future__ import annotations

import contextlib
import os
import socket

import pytest

from localcloud.fabric.links.forwards import as_in_table, listening_part, listening_ports

LOOPBACK = "127.0.0.1"


@pytest.mark.parametrize("connected", [0, 1, 100])
@pytest.mark.parametrize("listening", [1, 20, 26, 27, 28, 60, 200])  # a page has some 27 rows
def test_every_port_that_is_listened_on_is_found(listening: int, connected: int) -> None:
    with contextlib.ExitStack() as stack:
        made = [stack.enter_context(socket.create_server((LOOPBACK, 0))) for _ in range(listening)]
        for _ in range(connected):
            stack.enter_context(socket.create_connection(made[0].getsockname()))
        table = os.open("/proc/self/net/tcp", os.O_RDONLY)
        stack.callback(os.close, table)
        found = listening_ports(listening_part(table), frozenset({as_in_table(LOOPBACK)}))
        assert {each.getsockname()[1] for each in made} <= found
