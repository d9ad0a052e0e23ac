"""Appliances: sockets of the cloud itself in the networks of servers."""

import asyncio
import socket

import pytest

from cloud_testing.world import World
from localcloud.fabric.interface import (
    Address,
    Appliance,
    Direction,
    FabricError,
    ListenAccess,
    Port,
    Rule,
)
from localcloud.fabric.links.relays import await_connection

_ECHO = "#!/usr/bin/env python3\n{}"
_HELLO = """
import socketserver
class Hello(socketserver.StreamRequestHandler):
    def handle(self): self.wfile.write(self.client_address[0].encode())
print("serves", flush=True)
socketserver.TCPServer(("", 8000), Hello).serve_forever()
"""
_OUT = Rule(Direction.EGRESS, "IPv4")


def _appliance(world: World, *rules: Rule) -> Appliance:
    address = Address("10.0.0.9", 24, "10.0.0.1")
    return Appliance("one", (Port("vip", "net", world.mac(), (address,), True, (_OUT, *rules)),))


async def test_appliance_reaches_servers_and_has_floating_ips(world: World) -> None:
    server = await world.boot("web", "10.0.0.5", _ECHO.format(_HELLO))
    await world.until_console(server, "serves")
    doors = world.fabric.appliances
    assert doors is not None
    web = Rule(Direction.INGRESS, "IPv4", "tcp", 80, 80)
    appliance = _appliance(world, web)
    await doors.ensure(appliance)
    connection = await doors.open("one", ListenAccess.CONNECT, "10.0.0.5", 8000)
    reader, writer = await await_connection(connection)
    assert await reader.read() == b"10.0.0.9"
    writer.close()
    await world.router("r", net="10.0.0.1")
    await world.floating_ip(appliance, "127.24.4.9", "r")
    listening = await doors.open("one", ListenAccess.LISTEN, "10.0.0.9", 80)
    closed = await doors.open("one", ListenAccess.LISTEN, "10.0.0.9", 81)
    await world.until(lambda: bool(world.fabric.forwardings()), "a forwarding")
    (forwarding,) = world.fabric.forwardings()
    assert forwarding.server_port == 80
    loop = asyncio.get_running_loop()
    opening = asyncio.open_connection(forwarding.host_ip, forwarding.host_port)
    (accepted, peer), (near, far) = await asyncio.gather(loop.sock_accept(listening), opening)
    assert peer[0] == "100.64.0.1"
    accepted.send(b"hello")
    accepted.close()
    assert await near.read() == b"hello"
    far.close()
    closed.close()
    listening.close()
    await doors.remove("one")
    await world.until(lambda: not world.fabric.forwardings(), "no forwarding")
    with pytest.raises(FabricError, match="does not exist"):
        await doors.open("one", ListenAccess.LISTEN, "10.0.0.9", 80)


async def test_an_appliance_takes_datagrams_and_pings(world: World) -> None:
    doors = world.fabric.appliances
    assert doors is not None
    server = await world.boot("web", "10.0.0.5", "#!/bin/sh\necho up\n")
    await world.until_console(server, "up")
    await doors.ensure(_appliance(world, Rule(Direction.INGRESS, "IPv4", "udp", 53, 53)))
    loop = asyncio.get_running_loop()
    taking = await doors.open("one", ListenAccess.RECEIVE, "10.0.0.9", 53)
    sending = await doors.open("one", ListenAccess.SEND, "10.0.0.9", 53)
    sending.send(b"question")
    assert (await asyncio.wait_for(loop.sock_recvfrom(taking, 99), 30))[0] == b"question"
    with await doors.open("one", ListenAccess.PING, "10.0.0.5", 0) as ping:
        assert ping.type == socket.SOCK_DGRAM
        ping.send(b"\x08\0\0\0\0\0\0\x01")
        assert (await asyncio.wait_for(loop.sock_recv(ping, 99), 30))[:2] == b"\0\0"
    taking.close()
    sending.close()
