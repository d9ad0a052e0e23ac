"""A small world of networks, servers and one service of the host."""

import asyncio
import itertools
import json
import os
import socket
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from msgspec.structs import replace

from localcloud.fabric.interface import (
    Address,
    Exit,
    Fabric,
    FloatingIP,
    Network,
    Port,
    Router,
    RouterLeg,
    Rule,
    Server,
)

PATIENCE = 15.0


@dataclass
class HostService:
    """An HTTP service on the host's loopback that records the posts to it."""

    port: int = 0
    posts: list[str] = field(default_factory=list)
    heard: Callable[[str], None] = lambda _: None  # called with the posted text before the answer

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}/"

    async def answer(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = (await reader.readuntil(b"\r\n\r\n")).decode().lower()
        length = next(
            (int(line[15:]) for line in head.splitlines() if line.startswith("content-length:")), 0
        )
        self.posts.append((await reader.readexactly(length)).decode())
        self.heard(self.posts[-1])
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\nConnection: close\r\n\r\nfrom host")
        await writer.drain()
        writer.close()


@dataclass
class World:
    fabric: Fabric
    directory: Path
    service: HostService
    exits: list[Exit] = field(default_factory=list)
    numbers: itertools.count = field(default_factory=lambda: itertools.count(1))
    servers: dict[str, Server] = field(default_factory=dict)

    def mac(self) -> str:
        return f"fa:16:3e:00:00:{next(self.numbers):02x}"

    def server(
        self,
        name: str,
        ip: str,
        user_data: str | bytes | None = None,
        rules: tuple[Rule, ...] | None = None,
        network: str = "net",
        vendor: dict[str, object] | None = None,
    ) -> Server:
        address = Address(ip, 24, ip.rsplit(".", 1)[0] + ".1")
        data = user_data.encode() if isinstance(user_data, str) else user_data
        return Server(
            id=name,
            name=name,
            hostname=name,
            disk=self.directory / name,
            console=self.directory / f"{name}.log",
            root=None,
            ports=(Port(f"port-{name}", network, self.mac(), (address,), True, rules),),
            metadata={"uuid": name, "hostname": name},
            ec2_metadata={"instance-id": f"i-{name}", "placement": {"availability-zone": "nova"}},
            user_data=data,
            vendor_data=vendor or {},
        )

    async def boot(self, *arguments: object, **options: object) -> Server:
        server = self.server(*arguments, **options)
        await self.fabric.ensure_network(Network(server.ports[0].network_id))
        await self.fabric.boot(server)
        self.servers[server.id] = server
        return server

    async def router(
        self, router_id: str, gateway: RouterLeg | None = None, **gateways: str
    ) -> None:
        """A router whose address in each network is as given."""
        for network_id in gateways:
            await self.fabric.ensure_network(Network(network_id))
        legs = tuple(
            RouterLeg(f"{router_id}-{network_id}", network_id, self.mac(), (Address(ip, 24),))
            for network_id, ip in gateways.items()
        )
        await self.fabric.ensure_router(Router(router_id, True, legs, gateway))

    async def floating_ip(self, server: Server, address: str, router_id: str) -> FloatingIP:
        port = server.ports[0]
        bound = FloatingIP(f"fip-{address}", address, port.id, port.addresses[0].ip, router_id)
        await self.fabric.ensure_floating_ip(bound)
        return bound

    async def change_rules(self, server: Server, rules: tuple[Rule, ...]) -> None:
        await self.fabric.ensure_port(replace(server.ports[0], rules=rules))

    async def run(self, server: Server, line: str) -> tuple[int, str]:
        """Run a line of a shell in a server, as root; return its exit code and output."""
        empty, unused = os.pipe()
        os.close(unused)
        read, write = os.pipe()
        ours, theirs = socket.socketpair()
        with ours, theirs:
            await self.fabric.execute(
                server.id, ["sh", "-c", line], "root", [empty, write, write, theirs.fileno()]
            )
            for descriptor in (empty, write, theirs.detach()):
                os.close(descriptor)
            said = await asyncio.to_thread(_read_all, read)
            ended = json.loads(await asyncio.to_thread(ours.recv, 4096))
        return ended["code"], said

    def console(self, server: Server) -> str:
        return server.console.read_text(errors="replace") if server.console.exists() else ""

    async def until(self, claim: Callable[[], bool], what: str) -> None:
        deadline = time.monotonic() + PATIENCE
        while not claim():
            if time.monotonic() > deadline:
                consoles = "\n".join(self.console(server) for server in self.servers.values())
                raise AssertionError(f"did not come true: {what}\n{consoles}")
            await asyncio.sleep(0.02)

    async def until_console(self, server: Server, text: str) -> str:
        await self.until(lambda: text in self.console(server), f"{text!r} on the console")
        return self.console(server)


def _read_all(descriptor: int) -> str:
    with os.fdopen(descriptor, "rb") as file:
        return file.read().decode(errors="replace")
