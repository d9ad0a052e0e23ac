"""Packets go where networks, routers, security groups and floating addresses let them."""

import asyncio
import socket
from functools import partial

import pytest

from localcloud.fabric.interface import (
    Address,
    Direction,
    FabricError,
    Network,
    Port,
    RouterLeg,
    Rule,
)
from localcloud.fabric.links import outbound
from localcloud.fabric.links.outbound import DnsRelay

ALLOW_OUT = Rule(Direction.EGRESS, "IPv4")
WEB = "#!/bin/sh\ncd /etc; python3 -m http.server 8080 >/dev/null 2>&1 &\necho serving\n"


def allow_tcp(port: int, remotes: tuple[str, ...] | None = None) -> Rule:
    return Rule(Direction.INGRESS, "IPv4", "tcp", port, port, remotes)


def reach(address: str, wait: str = "1", tries: int = 8) -> str:
    """Return a script that prints the answer of another server on port 8080."""
    return f"""#!/bin/sh
for i in $(seq {tries}); do
    answer=$(curl -s -m {wait} http://{address}:8080/hostname) && break
    sleep 0.1
done
echo "got [$answer]"
"""


def fail_to_reach(address: str) -> str:
    return reach(address, wait="0.4", tries=2)


async def fetch(address: str, port: int, path: str = "hostname") -> str:
    reader, writer = await asyncio.open_connection(address, port)
    writer.write(f"GET /{path} HTTP/1.0\r\n\r\n".encode())
    answer = await reader.read()
    writer.close()
    return answer.decode().rpartition("\r\n\r\n")[2]


async def test_servers_of_one_network_reach_each_other(world):
    await world.boot("web", "10.0.0.5", WEB)
    client = await world.boot("client", "10.0.0.6", reach("10.0.0.5"))
    await world.until_console(client, "got [web]")


async def test_server_may_be_gateway_of_its_network(world):
    await world.boot("gate", "10.0.0.1", WEB)
    client = await world.boot("client", "10.0.0.6", reach("10.0.0.1"))
    await world.until_console(client, "got [gate]")


async def test_closed_port_opens_with_a_rule(world):
    web = await world.boot("web", "10.0.0.5", WEB, rules=(ALLOW_OUT,))
    await world.until_console(web, "serving")
    closed = await world.boot("closed", "10.0.0.6", fail_to_reach("10.0.0.5"))
    await world.until_console(closed, "got []")
    await world.change_rules(web, (ALLOW_OUT, allow_tcp(8080, ("10.0.0.7/32",))))
    opened = await world.boot("opened", "10.0.0.7", reach("10.0.0.5"))
    await world.until_console(opened, "got [web]")


@pytest.mark.parametrize("members", [2, 2500])
async def test_members_of_a_group_reach_its_ports(world, members):
    group = [f"10.0.{n // 250 + 1}.{n % 250}/32" for n in range(members)]
    remotes = ("10.9.0.0/16", *group, "10.0.0.6/32", "10.0.0.6/32", "10.0.0.8/32")
    to_group = Rule(Direction.EGRESS, "IPv4", remotes=(*group, "10.0.0.7/32"))
    await world.boot("web", "10.0.0.5", WEB, rules=(ALLOW_OUT, allow_tcp(8080, remotes)))
    member = await world.boot("member", "10.0.0.6", reach("10.0.0.5"))
    await world.until_console(member, "got [web]")
    stranger = await world.boot("stranger", "10.0.0.7", fail_to_reach("10.0.0.5"))
    bound = await world.boot("bound", "10.0.0.8", fail_to_reach("10.0.0.5"), rules=(to_group,))
    for refused in (stranger, bound):
        assert "got []" in await world.until_console(refused, "got []")


async def test_server_without_egress_rule_reaches_cloud_only(world):
    await world.boot("web", "10.0.0.5", WEB)
    script = fail_to_reach("10.0.0.5") + f"curl -s {world.service.url}; echo end\n"
    client = await world.boot("client", "10.0.0.6", script, rules=())
    console = await world.until_console(client, "end\n")
    assert "got []" in console
    assert "from host" in console


async def test_networks_are_connected_by_a_router_only(world):
    await world.router("r1", net="10.0.0.1", other="10.1.0.1")
    await world.boot("web", "10.1.0.5", WEB, network="other")
    client = await world.boot("client", "10.0.0.6", reach("10.1.0.5"))
    await world.until_console(client, "got [web]")
    alone = await world.boot("alone", "10.2.0.6", fail_to_reach("10.1.0.5"), network="third")
    await world.until_console(alone, "got []")


async def test_two_projects_may_use_the_same_addresses(world):
    for project in ("red", "blue"):
        await world.router(
            f"router-{project}", **{f"{project}-a": "10.0.0.1", f"{project}-b": "10.1.0.1"}
        )
        await world.boot(f"web-{project}", "10.1.0.5", WEB, network=f"{project}-b")
    clients = [
        await world.boot(f"client-{project}", "10.0.0.6", reach("10.1.0.5"), network=f"{project}-a")
        for project in ("red", "blue")
    ]
    await world.until_console(clients[0], "got [web-red]")
    await world.until_console(clients[1], "got [web-blue]")


async def test_host_reaches_server_at_floating_address(world):
    await world.router("r1", net="10.0.0.1")
    web = await world.boot("web", "10.0.0.5", WEB, rules=(ALLOW_OUT, allow_tcp(8080)))
    await world.floating_ip(web, "127.24.4.21", "r1")
    await world.until(lambda: bool(world.fabric.forwardings()), "a forwarding")
    (forwarding,) = world.fabric.forwardings()
    assert (forwarding.host_ip, forwarding.server_port) == ("127.24.4.21", 8080)
    assert await fetch("127.24.4.21", forwarding.host_port) == "web\n"


async def test_server_reports_its_ports_without_delay(world):
    await world.router("r1", net="10.0.0.1")
    late: list[str] = []

    def heard(port: str) -> None:
        if int(port) not in {each.server_port for each in world.fabric.forwardings()}:
            late.append(port)

    world.service.heard = heard
    script = f"""#!/usr/bin/env python3
import os, socket, time, urllib.request
while not os.path.exists("/root/begin"):
    time.sleep(0.02)
opened = []
for port in range(8081, 8101):
    opened.append(socket.create_server(("0.0.0.0", port)))
    urllib.request.urlopen({world.service.url!r}, str(port).encode())
print("all said")
"""
    rules = (ALLOW_OUT, Rule(Direction.INGRESS, "IPv4", "tcp", 8081, 8100))
    web = await world.boot("web", "10.0.0.5", script, rules=rules)
    await world.floating_ip(web, "127.24.4.25", "r1")
    await world.run(web, "touch /root/begin")
    await world.until_console(web, "all said")
    assert late == []


async def test_floating_address_refuses_closed_ports(world):
    await world.router("r1", net="10.0.0.1")
    web = await world.boot("web", "10.0.0.5", WEB, rules=(ALLOW_OUT, allow_tcp(8080)))
    await world.floating_ip(web, "127.24.4.22", "r1")
    await world.until(lambda: bool(world.fabric.forwardings()), "a forwarding")
    (forwarding,) = world.fabric.forwardings()
    await world.change_rules(web, (ALLOW_OUT,))
    with pytest.raises(ConnectionRefusedError):
        await fetch("127.24.4.22", forwarding.host_port)


async def test_floating_address_ends_with_its_server(world):
    await world.router("r1", net="10.0.0.1")
    web = await world.boot("web", "10.0.0.5", WEB)
    bound = await world.floating_ip(web, "127.24.4.23", "r1")
    await world.until(lambda: bool(world.fabric.forwardings()), "a forwarding")
    await world.fabric.stop_server("web")
    assert not world.fabric.forwardings()
    await world.fabric.remove_floating_ip(bound.id)


async def test_servers_reach_each_other_under_floating_addresses(world):
    await world.router("r1", net="10.0.0.1")
    await world.router("r2", other="10.0.0.1")
    web = await world.boot("web", "10.0.0.5", WEB, rules=(ALLOW_OUT, allow_tcp(8080)))
    await world.floating_ip(web, "127.24.4.24", "r1")
    client = await world.boot("client", "10.0.0.5", reach("127.24.4.24"), network="other")
    await world.until_console(client, "got [web]")


async def test_port_is_plugged_into_and_out_of_server(world):
    await world.boot("web", "10.1.0.5", WEB, network="other")
    script = "#!/bin/sh\nwhile [ ! -e /proc/sys/net/ipv4/conf/eth1 ]; do sleep 0.05; done\n"
    script += reach("10.1.0.5").partition("\n")[2]
    client = await world.boot("client", "10.0.0.6", script)
    await world.fabric.plug(
        "client", Port("p2", "other", world.mac(), (Address("10.1.0.6", 24),), True, (ALLOW_OUT,))
    )
    await world.until_console(client, "got [web]")
    await world.fabric.unplug("client", "p2")
    await world.fabric.unplug("client", "p2")


async def test_icmp_and_port_ranges_have_own_rules(world):
    rules = (
        Rule(Direction.INGRESS, "IPv4", "icmp", 8, 0),
        Rule(Direction.INGRESS, "IPv4", "tcp", 8000, 8100, ("10.0.0.0/29", "10.0.0.64/26")),
        Rule(Direction.INGRESS, "IPv6", "tcp", 8080, 8080, ()),
        Rule(Direction.EGRESS, "IPv6"),
        ALLOW_OUT,
    )
    await world.boot("web", "10.0.0.5", WEB, rules=rules)
    near = await world.boot("near", "10.0.0.6", reach("10.0.0.5"))
    far = await world.boot("far", "10.0.0.9", fail_to_reach("10.0.0.5"))
    await world.until_console(near, "got [web]")
    await world.until_console(far, "got []")


async def test_removals_and_declarations_are_idempotent(world):
    await world.fabric.ensure_network(Network("net"))
    await world.fabric.ensure_network(Network("net", mtu=1400))
    await world.router("r1", net="10.0.0.1")
    await world.router("r1", net="10.0.0.254")
    await world.router("r1")
    for _ in range(2):
        await world.fabric.remove_router("r1")
        await world.fabric.remove_network("net")
        await world.fabric.remove_floating_ip("none")
    await world.fabric.ensure_port(Port("p", "net", "fa:16:3e:00:00:ff", ()))


def own_address() -> str | None:
    """An address of this machine that is not its loopback."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        try:
            # Nothing is sent: this only asks which address would be used.
            probe.connect(("192.0.2.1", 9))
        except OSError:
            return None
        return str(probe.getsockname()[0])


@pytest.mark.parametrize("of_host", [False, True])
async def test_only_gateway_router_reaches_outside_except_host(world, monkeypatch, of_host):
    if not of_host:  # the machine's own address stands for one of the world
        monkeypatch.setattr(outbound, "_is_of_host", lambda address: False)
    address = own_address()
    if address is None or address.startswith("127."):
        pytest.skip("this machine has no address but its loopback")
    gateway = RouterLeg("gw", "public", world.mac(), (Address("127.24.4.9", 24, "127.24.4.1"),))
    await world.router("r1", gateway, net="10.0.0.1")
    await world.router("r2", other="10.0.0.1")
    async with await asyncio.start_server(world.service.answer, address, 0) as outside:
        url = f"http://{address}:{outside.sockets[0].getsockname()[1]}/"
        script = f'#!/bin/sh\necho "got [$(curl -s -m 1 {url})]"\n'
        inside = await world.boot("inside", "10.0.0.5", script)
        alone = await world.boot("alone", "10.0.0.5", script, network="other")
        await world.until_console(inside, "got []" if of_host else "got [from host]")
        await world.until_console(alone, "got []")


class NameServer(asyncio.DatagramProtocol):
    """Answers each question with these bytes and the question."""

    def __init__(self, prefix: bytes) -> None:
        self.prefix = prefix

    def connection_made(self, transport):
        self.transport = transport

    def datagram_received(self, data, client):
        self.transport.sendto(self.prefix + data, client)


class InTurn:
    """Name servers that are asked one after the other."""

    def __init__(self, *transports):
        self.transports = transports

    def in_turn(self):
        return [transport.get_extra_info("sockname") for transport in self.transports]


async def test_names_are_resolved_by_first_accepting_server():
    loop = asyncio.get_running_loop()
    refusal = bytes([0, 0, 0, 5])
    transports = [
        (await loop.create_datagram_endpoint(partial(NameServer, prefix), ("127.0.0.1", 0)))[0]
        for prefix in (refusal, b"answer to ")
    ]
    asked = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    asked.bind(("127.0.0.1", 0))
    asked.setblocking(False)
    address = asked.getsockname()
    relay = DnsRelay(asked, InTurn(*transports))
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as client:
        client.setblocking(False)
        client.sendto(b"question", address)
        async with asyncio.timeout(30):
            assert await loop.sock_recv(client, 100) == b"answer to question"
    relay.close()
    for transport in transports:
        transport.close()


async def test_nonsensical_request_is_refused_and_servers_live_on(world):
    web = await world.boot("web", "10.0.0.5", WEB)
    with pytest.raises(FabricError, match="nonsense"):
        await world.change_rules(web, (Rule(Direction.INGRESS, "IPv4", "nonsense"),))
    client = await world.boot("client", "10.0.0.6", reach("10.0.0.5"))
    await world.until_console(client, "got [web]")
