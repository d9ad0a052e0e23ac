"""The end of the cloud's process leaves no remains of its servers."""

import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

CLOUD = """
import asyncio, sys
from pathlib import Path
from localcloud.fabric.interface import *
from localcloud.fabric.choose import fabric_on
from localcloud.fabric.process.start import start_owner

async def main(state, directory):
    fabric = fabric_on(start_owner(Path(state)))
    await fabric.start(lambda end: print("ended", end.server_id, end.code, flush=True))
    await fabric.ensure_network(Network("net"))
    leg = RouterLeg("leg", "net", "fa:16:3e:00:01:01", (Address("10.0.0.1", 24),))
    await fabric.ensure_router(Router("router", True, (leg,)))
    script = b"#!/bin/sh\\npython3 -m http.server 8080 & sleep 1000 & (setsid sleep 1000 &) \\n"
    for number in (5, 6):
        address = Address(f"10.0.0.{number}", 24, "10.0.0.1")
        port = Port(f"p{number}", "net", f"fa:16:3e:00:00:0{number}", (address,))
        place = Path(directory)
        await fabric.boot(Server(f"s{number}", "s", "s", place / f"s{number}",
            place / f"s{number}.log", None, (port,), user_data=script))
    await fabric.ensure_floating_ip(FloatingIP("f", "127.24.4.31", "p5", "10.0.0.5", "router"))
    while not fabric.forwardings():
        await asyncio.sleep(0.05)
    print("ready", fabric.forwardings()[0].host_port, flush=True)
    await asyncio.sleep(1000)

asyncio.run(main(*sys.argv[1:]))
"""


def descendants(pid: int) -> dict[int, str]:
    """All processes below this one, with the time each was started (against reused ids)."""
    parents, starts, found = {}, {}, {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                fields = (entry / "stat").read_text().rpartition(")")[2].split()
            except OSError:
                continue
            parents[int(entry.name)] = int(fields[1])
            starts[int(entry.name)] = fields[19]
    frontier = [pid]
    while frontier:
        above = frontier.pop()
        below = [child for child, parent in parents.items() if parent == above]
        found.update({child: starts[child] for child in below})
        frontier += below
    return found


def alive(processes: dict[int, str]) -> list[int]:
    still = []
    for pid, start in processes.items():
        try:
            fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
        except OSError:
            continue
        if fields[19] == start and fields[0] != "Z":
            still.append(pid)
    return still


def until(claim: Callable[[], bool], what: str) -> None:
    deadline = time.monotonic() + 15
    while not claim():
        assert time.monotonic() < deadline, what
        time.sleep(0.02)


@pytest.fixture
def cloud(capabilities, state_directory, tmp_path):
    command = [sys.executable, "-c", CLOUD, str(state_directory), str(tmp_path)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        yield process
        process.kill()


def reachable(port: int) -> bool:
    with socket.socket() as client:
        client.settimeout(2)
        return client.connect_ex(("127.24.4.31", port)) == 0


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM])
def test_killed_cloud_leaves_no_process_port_or_mount(cloud, tmp_path, number):
    port = int(cloud.stdout.readline().split()[1])
    until(lambda: len(descendants(cloud.pid)) >= 10, "the servers run what they were given")
    processes = descendants(cloud.pid)
    assert reachable(port)
    os.kill(cloud.pid, number)
    cloud.wait()
    until(lambda: not alive(processes), "all processes end")
    assert not reachable(port)
    assert str(tmp_path) not in Path("/proc/self/mountinfo").read_text()


def test_killed_fabric_process_ends_servers_with_report(cloud):
    cloud.stdout.readline()
    processes = descendants(cloud.pid)
    owner = min(pid for pid in processes if pid in direct_children(cloud.pid))
    os.kill(owner, signal.SIGKILL)
    ended = {cloud.stdout.readline().strip() for _ in range(2)}
    assert ended == {"ended s5 None", "ended s6 None"}
    until(lambda: not alive(processes), "all processes end")


def direct_children(pid: int) -> set[int]:
    listed = Path(f"/proc/{pid}/task/{pid}/children").read_text()
    return {int(child) for child in listed.split()}
