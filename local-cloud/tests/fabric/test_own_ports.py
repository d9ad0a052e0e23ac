"""A server's programs may listen on every port, also on those of the host's services."""

import asyncio
import socket
from pathlib import Path

from cloud_testing.world import HostService, World
from localcloud.fabric.choose import fabric_on
from localcloud.fabric.interface import Capabilities, Direction, Network, Rule
from localcloud.fabric.links.outbound import relay_names
from localcloud.fabric.links.relays import Listener
from localcloud.fabric.process.start import start_owner

ALLOW_OUT = Rule(Direction.EGRESS, "IPv4")


def allow_tcp(port: int) -> Rule:
    return Rule(Direction.INGRESS, "IPv4", "tcp", port, port)


async def fetch(address: str, port: int, path: str = "hostname") -> str:
    reader, writer = await asyncio.open_connection(address, port)
    writer.write(f"GET /{path} HTTP/1.0\r\n\r\n".encode())
    answer = await reader.read()
    writer.close()
    return answer.decode().rpartition("\r\n\r\n")[2]


def web(port: int) -> str:
    return f"""#!/bin/sh
cd /etc; python3 -m http.server {port} &
until curl -s -o /dev/null http://$(hostname -I | cut -d' ' -f1):{port}/; do sleep 0.05; done
echo "metadata [$(curl -s http://169.254.169.254/latest/meta-data/instance-id)]"
"""


async def test_server_uses_port_80_beside_metadata(world):
    await world.router("r1", net="10.0.0.1")
    server = await world.boot("web", "10.0.0.5", web(80), rules=(ALLOW_OUT, allow_tcp(80)))
    await world.floating_ip(server, "127.24.4.41", "r1")
    await world.until_console(server, "metadata [i-web]")
    await world.until(lambda: bool(world.fabric.forwardings()), "a forwarding")
    (forwarding,) = world.fabric.forwardings()
    assert forwarding.server_port == 80
    assert forwarding.host_port in (80, 8080)
    assert await fetch("127.24.4.41", forwarding.host_port) == "web\n"


async def test_port_taken_on_host_is_moved_by_8000(world):
    await world.router("r1", net="10.0.0.1")
    with socket.create_server(("127.24.4.42", 4080)), socket.create_server(("127.24.4.42", 12080)):
        server = await world.boot("web", "10.0.0.5", web(4080))
        await world.floating_ip(server, "127.24.4.42", "r1")
        await world.until(lambda: bool(world.fabric.forwardings()), "a forwarding")
        (forwarding,) = world.fabric.forwardings()
        assert (forwarding.server_port, forwarding.host_port) == (4080, 12081)
        assert await fetch("127.24.4.42", 12081) == "web\n"


async def test_server_listens_on_port_of_host_service(world):
    port = world.service.port
    script = web(port) + f'echo "service [$(curl -s {world.service.url})]"\n'
    server = await world.boot("web", "10.0.0.5", script)
    client = await world.boot(
        "client",
        "10.0.0.6",
        "#!/bin/sh\nfor i in 1 2 3 4 5 6 7 8 9; do\n"
        f'echo "got [$(curl -s -m 1 http://10.0.0.5:{port}/hostname)]"; sleep 0.2; done\n',
    )
    await world.until_console(server, "service [from host]")
    await world.until_console(client, "got [web]")


async def test_names_may_be_served_by_a_server_itself(world):
    script = """#!/usr/bin/python3
import socket
for kind in (socket.SOCK_DGRAM, socket.SOCK_STREAM):
    sock = socket.socket(socket.AF_INET, kind)
    sock.bind(("0.0.0.0", 53))
    print("bound", flush=True)
"""
    server = await world.boot("dns", "10.0.0.5", script)
    await world.until(lambda: world.console(server).count("bound\n") == 2, "both are bound")


async def test_several_floating_ranges_are_reached_from_servers(
    capabilities: Capabilities, state_directory: Path, tmp_path: Path
):
    fabric = fabric_on(start_owner(state_directory, [], ("127.24.4.0/24", "127.24.5.0/24")))
    world = World(fabric, tmp_path, HostService())
    await fabric.start(world.exits.append)
    try:
        await fabric.ensure_network(Network("net"))
        await world.router("r1", net="10.0.0.1")
        server = await world.boot("web", "10.0.0.5", web(8080))
        await world.until_console(server, "metadata [")
        for address in ("127.24.4.43", "127.24.5.43"):
            await world.floating_ip(server, address, "r1")
            client = await world.boot(
                f"client-{address[7]}",
                f"10.0.0.{address[7]}0",
                "#!/bin/sh\nfor i in 1 2 3 4 5 6 7 8 9; do\n"
                f"curl -s -m 2 http://{address}:8080/hostname && break; sleep 0.2; done\n",
            )
            await world.until_console(client, "web\n")
    finally:
        await fabric.close()


async def test_names_are_looked_up_over_connections_too():
    async def name_server(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(b"answer to " + await reader.readexactly(8))
        writer.close()

    upstream = await asyncio.start_server(name_server, "127.0.0.1", 0)
    resolver = upstream.sockets[0].getsockname()
    sock = socket.create_server(("127.0.0.1", 0))
    sock.setblocking(False)
    listener = Listener(sock, lambda near: relay_names(near, resolver))
    reader, writer = await asyncio.open_connection(*sock.getsockname())
    writer.write(b"question")
    assert await asyncio.wait_for(reader.read(), 5) == b"answer to question"
    writer.close()
    listener.close()
    upstream.close()
