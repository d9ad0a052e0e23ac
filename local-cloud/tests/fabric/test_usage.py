"""The usage of servers is counted, for the right one."""

import asyncio
import time
from collections.abc import Callable

from cloud_testing.world import World
from localcloud.fabric.interface import Usage

PATIENCE = 60.0
_BUSY = "#!/bin/sh\nsh -c 'while [ ! -e /done ]; do :; done' & echo begun\n"


async def _of(world: World, server_id: str) -> Usage:
    return (await world.fabric.usage())[server_id]


async def _when(world: World, server_id: str, claim: Callable[[Usage], bool]) -> Usage:
    deadline = time.monotonic() + PATIENCE
    while not claim(usage := await _of(world, server_id)):
        assert time.monotonic() < deadline, usage
        await asyncio.sleep(0.02)
    return usage


async def test_usage_is_counted_for_its_server(world: World) -> None:
    assert await world.fabric.usage() == {}
    busy = await world.boot("busy", "10.0.0.10", _BUSY)
    await world.boot("idle", "10.0.0.11")
    await world.until_console(busy, "begun")
    before = await _of(world, "busy")
    more = before.cpu_ns + 200_000_000
    after = await _when(world, "busy", lambda usage: usage.cpu_ns > more)
    assert before.memory_bytes > 1 << 20
    assert set(after.ports) == {"port-busy"}
    idle = await _of(world, "idle")
    assert set(idle.ports) == {"port-idle"}


async def test_traffic_is_counted_at_its_port(world: World) -> None:
    send = "import socket; s = socket.socket(type=socket.SOCK_DGRAM)\n"
    send += "for _ in range(3): s.sendto(bytes(1000), ('10.0.0.11', 9))"
    await world.boot("quiet", "10.0.0.11")
    await world.boot("asking", "10.0.0.10", f"#!/usr/bin/env python3\n{send}\n")
    sent = await _when(world, "asking", lambda u: u.ports["port-asking"].sent_bytes >= 3000)
    assert sent.ports["port-asking"].sent_packets >= 3
    await world.fabric.stop_server("quiet")
    assert "quiet" not in await world.fabric.usage()
