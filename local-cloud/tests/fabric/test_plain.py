"""Without namespaces, servers are plain processes: they run, answer and end."""

import asyncio
import contextlib
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from msgspec.structs import replace

from localcloud.fabric.choose import fabric_on, without_namespaces
from localcloud.fabric.interface import (
    Address,
    Direction,
    Exit,
    Fabric,
    FabricError,
    FloatingIP,
    Port,
    Rule,
    Server,
)
from localcloud.fabric.no_fabric import NoFabric
from localcloud.fabric.process.namespaces import NamespaceFabric
from localcloud.fabric.process.plain import PlainFabric
from localcloud.fabric.process.start import start_owner

SERVE = """#!/bin/sh
echo $(basename $PWD) at $STOKER_ADDRESS
curl -s $STOKER_METADATA_URL/openstack/latest/meta_data.json; echo
python3 -m http.server 8080 --bind $STOKER_ADDRESS >/dev/null 2>&1 &
(setsid sleep 1000 &)
exit 2
"""
INWARD = Rule(Direction.INGRESS, "IPv4", "tcp", 8080, 8080)


def server(place: Path, user_data: str = SERVE) -> Server:
    port = Port("p", "net", "fa:16:3e:00:00:01", (Address("10.0.0.5", 24),), True, (INWARD,))
    return Server(
        id="web",
        name="web",
        hostname="web",
        disk=place / "web",
        console=place / "web.log",
        root=None,
        ports=(port,),
        metadata={"uuid": "web"},
        user_data=user_data.encode(),
    )


async def until(claim: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 15
    while not claim():
        assert time.monotonic() < deadline
        await asyncio.sleep(0.02)


async def until_console(place: Path, text: str) -> str:
    console = place / "web.log"
    await until(lambda: text in console.read_text())
    return console.read_text()


@pytest.fixture
async def plain():
    exits: list[Exit] = []
    fabric = PlainFabric(["there is a reason"])
    await fabric.start(exits.append)
    yield fabric, exits
    await fabric.close()


async def test_plain_server_runs_user_data_at_floating_ip(plain, tmp_path):
    fabric, exits = plain
    await fabric.boot(server(tmp_path))
    console = await until_console(tmp_path, "ended with exit code 2")
    assert "web at 127.77." in console
    assert '{"uuid": "web"}' in console
    bound = FloatingIP("f", "127.24.4.41", "p", "10.0.0.5", "router")
    await fabric.ensure_floating_ip(bound)
    await until(lambda: bool(fabric.forwardings()))
    reader, writer = await asyncio.open_connection("127.24.4.41", 8080)
    writer.write(b"GET / HTTP/1.0\r\n\r\n")
    assert b"user-data-done" in await reader.read()
    writer.close()
    await fabric.stop_server("web")
    assert [(end.server_id, end.asked) for end in exits] == [("web", True)]
    await fabric.delete_server("web", tmp_path / "web")
    assert not (tmp_path / "web").exists()


async def test_port_is_found_among_hundreds_on_host(plain, tmp_path):
    fabric, _ = plain
    with contextlib.ExitStack() as others:
        for _ in range(300):
            others.enter_context(socket.create_server(("127.0.0.1", 0)))
        await fabric.boot(server(tmp_path))
        await until_console(tmp_path, "ended with exit code 2")
        await fabric.ensure_floating_ip(FloatingIP("f", "127.24.4.40", "p", "10.0.0.5", "router"))
        await until(lambda: bool(fabric.forwardings()))


async def test_files_of_plain_server_stay_in_its_directory(plain, tmp_path):
    fabric, _ = plain
    config = (
        "#cloud-config\nwrite_files: [{path: /../../etc/probe-file, content: x}]\n"
        "users: [bob]\nruncmd: [echo ran]\n"
    )
    await fabric.boot(server(tmp_path, config))
    console = await until_console(tmp_path, "user data is done")
    assert (tmp_path / "web/root/etc/probe-file").read_text() == "x"
    assert "ignored in a server of plain processes: users" in console
    assert "ran\n" in console


async def test_image_is_refused_with_the_reasons(plain, tmp_path):
    fabric, _ = plain
    assert fabric.capabilities.lacks[0] == "there is a reason"
    image = replace(server(tmp_path), root=tmp_path)
    with pytest.raises(FabricError, match="image"):
        await fabric.boot(image)


def refusal(fabric: Fabric) -> str:
    assert isinstance(fabric, NoFabric)
    (reason,) = fabric.capabilities.lacks
    return reason


@pytest.mark.parametrize("is_allowed", [False, True])
async def test_root_runs_no_servers_without_isolation(tmp_path, is_allowed):
    fabric = without_namespaces(["there is a reason"], 0, is_allowed=is_allowed, is_root=True)
    assert "there is a reason" in refusal(fabric)
    assert "start the cloud as another user" in refusal(fabric)
    with pytest.raises(FabricError, match="No server is started"):
        await fabric.boot(server(tmp_path))
    assert not (tmp_path / "web").exists()


async def test_user_runs_servers_without_isolation_only_by_choice(tmp_path):
    fabric = without_namespaces(["there is a reason"], 0, is_allowed=False, is_root=False)
    assert "stoker serve --without-isolation" in refusal(fabric)
    with pytest.raises(FabricError, match="there is a reason"):
        await fabric.boot(server(tmp_path))
    chosen = without_namespaces(["there is a reason"], 0, is_allowed=True, is_root=False)
    assert type(chosen) is PlainFabric


CLOUD = """
import asyncio, sys
sys.path.insert(0, sys.argv[2])
from pathlib import Path
from test_plain import server, until_console
from localcloud.fabric.process.plain import PlainFabric

async def main(place):
    fabric = PlainFabric()
    await fabric.start(print)
    await fabric.boot(server(place))
    await until_console(place, "ended with exit code 2")
    print("ready", flush=True)
    await asyncio.sleep(1000)

asyncio.run(main(Path(sys.argv[1])))
"""


def test_plain_servers_end_with_a_killed_cloud(tmp_path):
    command = [sys.executable, "-c", CLOUD, str(tmp_path), str(Path(__file__).parent)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as cloud:
        assert cloud.stdout.readline() == "ready\n"
        os.kill(cloud.pid, signal.SIGKILL)
    marker = f"HOME={tmp_path}/web".encode()

    def left() -> list[str]:
        found = []
        for entry in Path("/proc").iterdir():
            try:
                if entry.name.isdigit() and marker in (entry / "environ").read_bytes():
                    found.append(entry.name)
            except OSError:
                continue
        return found

    for _ in range(600):
        if not left():
            return
        os.sched_yield()
        subprocess.run(["sleep", "0.02"], check=True)
    raise AssertionError(f"still there: {left()}")


async def test_machine_capabilities_choose_the_fabric(tmp_path, capabilities):
    chosen = fabric_on(start_owner(tmp_path))
    assert isinstance(chosen, NamespaceFabric)
    assert chosen.capabilities == capabilities
    await chosen.start(lambda _: None)
    await chosen.close()
