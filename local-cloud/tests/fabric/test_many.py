"""Servers come and go without leaving anything behind, in any number."""

import asyncio
import gc
import os
from pathlib import Path

from localcloud.fabric.process.supervisor import descendants


def open_files(process: int | str) -> int:
    return len(list(Path(f"/proc/{process}/fd").iterdir()))


async def test_deleted_servers_free_descriptors_and_processes(world):
    await world.router("r1", net="10.0.0.1")
    processes = descendants(os.getpid())
    gc.collect()  # Garbage of earlier tests may hold descriptors, which would be freed meanwhile.
    counted = {process: open_files(process) for process in [os.getpid(), *processes]}
    script = "#!/bin/sh\nsleep 1000 &\n"
    for batch in range(3):
        servers = await asyncio.gather(
            *(world.boot(f"s{batch}-{n}", f"10.0.0.{n + 10}", script) for n in range(6))
        )
        bound = [
            await world.floating_ip(server, f"127.24.4.{60 + n}", "r1")
            for n, server in enumerate(servers)
        ]
        assert len(descendants(os.getpid())) >= len(processes) + 6
        for floating_ip in bound:
            await world.fabric.remove_floating_ip(floating_ip.id)
        await asyncio.gather(
            *(world.fabric.delete_server(server.id, server.disk) for server in servers)
        )
    await world.until(lambda: descendants(os.getpid()) == processes, "no process is left")
    await world.until(
        lambda: {process: open_files(process) for process in counted} == counted,
        "all descriptors are closed",
    )
