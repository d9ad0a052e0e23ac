"""Listening sockets are read from the kernel, or from its table in /proc, a page at a time."""

from __future__ import annotations

import contextlib
import os
import socket

import pytest

from localcloud.fabric.links.listening import as_in_table, listening_ports, open_tables

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
        found = listening_ports([table], frozenset({as_in_table(LOOPBACK)}))
        assert {each.getsockname()[1] for each in made} <= found


def test_kernel_returns_listening_sockets_of_both_families() -> None:
    with contextlib.ExitStack() as stack:
        made = stack.enter_context(socket.create_server((LOOPBACK, 0)))
        over_v6 = stack.enter_context(socket.create_server(("::1", 0), family=socket.AF_INET6))
        client = stack.enter_context(socket.create_connection(made.getsockname()))
        tables = open_tables()
        for table in tables:
            stack.callback(os.close, table)
        here = frozenset({as_in_table(LOOPBACK)})
        for _ in range(2):
            found = listening_ports(tables, here)
            assert made.getsockname()[1] in found
            assert client.getsockname()[1] not in found
        assert over_v6.getsockname()[1] not in listening_ports(tables, here)
        there = listening_ports(tables, frozenset({as_in_table("::1")}))
        assert over_v6.getsockname()[1] in there
        in_proc = [os.open(f"/proc/self/net/{name}", os.O_RDONLY) for name in ("tcp", "tcp6")]
        for table in in_proc:
            stack.callback(os.close, table)
        assert listening_ports(in_proc, frozenset({as_in_table("::1")})) == there
