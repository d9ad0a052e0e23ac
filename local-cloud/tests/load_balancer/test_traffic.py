"""Traffic: who serves whom, over TCP, HTTP and UDP."""

import asyncio
from collections import Counter
from contextlib import AsyncExitStack
from typing import Any

import httpx
import pytest

from cloud_testing.balancers import Balancing, connected, hang_up

PATIENCE = 30.0


def named(name: str) -> Any:
    """A web server that returns its name, and records its requests."""

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = (await reader.readuntil(b"\r\n\r\n")).decode()
        length = next(
            (int(line[15:]) for line in head.splitlines() if line.startswith("content-length:")), 0
        )
        body = await reader.readexactly(length)
        told = f"{name}\n{head}{body.decode()}".encode()
        cookie = b"Set-Cookie: session=%s; path=/\r\n" % name.encode()
        size = str(len(told)).encode()
        writer.write(b"HTTP/1.1 200 OK\r\n" + cookie + b"Content-Length: " + size + b"\r\n\r\n")
        writer.write(told)
        await writer.drain()

    return answer


async def shouting(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """A server that answers each line in capitals until the client has said all."""
    while line := await reader.readline():
        writer.write(line.upper())
        await writer.drain()


class Web:
    """A client of a listener."""

    def __init__(self, place: tuple[str, int]) -> None:
        self.url = f"http://{place[0]}:{place[1]}"

    async def ask(
        self, path: str = "/", method: str = "GET", cookies: Any = None, **options: Any
    ) -> httpx.Response:
        async with httpx.AsyncClient(timeout=PATIENCE, cookies=cookies) as client:
            return await client.request(method, self.url + path, **options)

    async def who(self, path: str = "/", **options: Any) -> str:
        return (await self.ask(path, **options)).text.partition("\n")[0]

    async def count(self, times: int) -> Counter[str]:
        return Counter([await self.who() for _ in range(times)])


async def test_requests_go_round_by_weight(balancing: Balancing) -> None:
    balancer, _, pool = await balancing.ready()
    for number, weight in ((1, 1), (2, 2), (3, 0)):
        await balancing.member(pool, number, weight=weight)
    async with (
        balancing.server(1, named("one")),
        balancing.server(2, named("two")),
        balancing.server(3, named("three")),
    ):
        web = Web(balancing.door(balancer))
        assert await web.count(6) == {"one": 2, "two": 4}


async def test_refusing_member_is_skipped(balancing: Balancing) -> None:
    balancer, listener, pool = await balancing.ready()
    for number in (1, 2):
        await balancing.member(pool, number)
    web = Web(balancing.door(balancer))
    assert (await web.ask()).status_code == 503
    async with balancing.server(2, named("two")):
        assert await web.count(4) == {"two": 4}
    stats = (await balancing.get(f"/listeners/{listener['id']}/stats"))["stats"]
    assert (stats["total_connections"], stats["request_errors"]) == (5, 1)
    assert stats["bytes_in"] > 0 < stats["bytes_out"]
    whole = (await balancing.get(f"/loadbalancers/{balancer['id']}/stats"))["stats"]
    assert (whole["total_connections"], whole["request_errors"]) == (5, 1)


async def test_backup_members_serve_when_no_other_can(balancing: Balancing) -> None:
    balancer, _, pool = await balancing.ready()
    first = await balancing.member(pool, 1)
    await balancing.member(pool, 2, backup=True)
    async with balancing.server(1, named("one")), balancing.server(2, named("two")):
        web = Web(balancing.door(balancer))
        assert await web.count(2) == {"one": 2}
        await balancing.change("member", first["id"], pool["id"], admin_state_up=False)
        assert await web.count(2) == {"two": 2}


async def test_bodies_headers_and_connections_are_kept(balancing: Balancing) -> None:
    balancer, listener, pool = await balancing.ready()
    insert = {"X-Forwarded-For": "true", "X-Forwarded-Port": "true", "X-Forwarded-Proto": "false"}
    await balancing.change("listener", listener["id"], insert_headers=insert)
    await balancing.member(pool, 1)
    async with (
        balancing.server(1, named("one")),
        httpx.AsyncClient(timeout=PATIENCE) as client,
    ):
        url = Web(balancing.door(balancer)).url
        for _ in range(2):
            answer = await client.post(f"{url}/form?a=b", content=b"x" * 70_000)
            lines = answer.text.splitlines()
            assert lines[:2] == ["one", "POST /form?a=b HTTP/1.1"]
            assert lines[-1] == "x" * 70_000
            assert "x-forwarded-for: 127.0.0.1" in lines
            assert "x-forwarded-port: 80" in lines
            assert not any(line.startswith("x-forwarded-proto") for line in lines)
    stats = (await balancing.get(f"/listeners/{listener['id']}/stats"))["stats"]
    assert stats["total_connections"] == 1


async def test_what_is_no_http_is_refused_and_counted(balancing: Balancing) -> None:
    balancer, listener, _ = await balancing.ready()
    async with connected(balancing.door(balancer)) as (reader, writer):
        writer.write(b"nonsense\r\n\r\n")
        assert (await reader.read()).startswith(b"HTTP/1.1 400")
    stats = (await balancing.get(f"/listeners/{listener['id']}/stats"))["stats"]
    assert stats["request_errors"] == 1


async def test_an_answer_that_breaks_off_is_an_error(balancing: Balancing) -> None:
    balancer, _, pool = await balancing.ready()
    await balancing.member(pool, 1)

    async def say_nothing(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")

    async with balancing.server(1, say_nothing):
        assert (await Web(balancing.door(balancer)).ask()).status_code == 502


@pytest.mark.parametrize(
    ("persistence", "same"),
    [
        ({"type": "SOURCE_IP"}, False),
        ({"type": "HTTP_COOKIE"}, True),
        ({"type": "APP_COOKIE", "cookie_name": "session"}, True),
    ],
)
async def test_clients_find_their_member_again(
    balancing: Balancing, persistence: dict[str, str], same: bool
) -> None:
    balancer, _, pool = await balancing.ready(session_persistence=persistence)
    for number in (1, 2):
        await balancing.member(pool, number)
    async with balancing.server(1, named("one")), balancing.server(2, named("two")):
        web = Web(balancing.door(balancer))
        if not same:
            assert len(await web.count(5)) == 1
            return
        for _ in range(2):
            first = await web.ask()
            cookies = dict(first.cookies)
            found = {await web.who(cookies=cookies) for _ in range(4)}
            assert found == {first.text.partition("\n")[0]}
        assert len(await web.count(4)) == 2
        assert "SRV" not in (await web.ask(cookies=cookies)).text


async def test_the_same_address_reaches_the_same_member(balancing: Balancing) -> None:
    balancer, _, pool = await balancing.ready(lb_algorithm="SOURCE_IP")
    for number in (1, 2):
        await balancing.member(pool, number)
    async with balancing.server(1, named("one")), balancing.server(2, named("two")):
        assert len(await Web(balancing.door(balancer)).count(5)) == 1


async def test_policies_refuse_redirect_and_choose_pools(balancing: Balancing) -> None:
    balancer, listener, pool = await balancing.ready()
    other = await balancing.make(
        "pool", loadbalancer_id=balancer["id"], protocol="HTTP", lb_algorithm="ROUND_ROBIN"
    )
    await balancing.member(pool, 1)
    await balancing.member(other, 2)
    base = {"listener_id": listener["id"]}
    rules = (
        ("REJECT", {}, {"type": "PATH", "compare_type": "STARTS_WITH", "value": "/secret"}),
        (
            "REDIRECT_TO_URL",
            {"redirect_url": "http://there/", "redirect_http_code": 301},
            {"type": "FILE_TYPE", "compare_type": "EQUAL_TO", "value": "PHP"},
        ),
        (
            "REDIRECT_PREFIX",
            {"redirect_prefix": "https://there"},
            {"type": "HOST_NAME", "compare_type": "REGEX", "value": "^old[.]"},
        ),
        (
            "REDIRECT_TO_POOL",
            {"redirect_pool_id": other["id"]},
            {"type": "HEADER", "key": "X-Kind", "compare_type": "CONTAINS", "value": "new"},
        ),
        (
            "REDIRECT_TO_POOL",
            {"redirect_pool_id": other["id"]},
            {"type": "COOKIE", "key": "beta", "compare_type": "EQUAL_TO", "value": "1"},
        ),
    )
    for action, target, rule in rules:
        policy = await balancing.make("l7policy", **base, action=action, **target)
        await balancing.make("rule", policy["id"], **rule)
    async with balancing.server(1, named("one")), balancing.server(2, named("two")):
        web = Web(balancing.door(balancer))
        assert await web.who("/") == "one"
        assert (await web.ask("/secret/x", "POST", content=b"abc")).status_code == 403
        moved = await web.ask("/a.php?b")
        assert (moved.status_code, moved.headers["location"]) == (301, "http://there/")
        moved = await web.ask("/a?b=c", headers={"Host": "old.example:80"})
        assert (moved.status_code, moved.headers["location"]) == (302, "https://there/a?b=c")
        assert await web.who(headers={"X-Kind": "brand new"}) == "two"
        assert await web.who(cookies={"beta": "1"}) == "two"
        assert await web.who(cookies={"beta": "10"}) == "one"


async def test_policy_needs_all_rules_and_can_invert(balancing: Balancing) -> None:
    balancer, listener, pool = await balancing.ready()
    await balancing.member(pool, 1)
    policy = await balancing.make("l7policy", listener_id=listener["id"], action="REJECT")
    async with balancing.server(1, named("one")):
        web = Web(balancing.door(balancer))
        assert await web.who("/api") == "one"
        rule = {"type": "PATH", "compare_type": "EQUAL_TO", "value": "/api"}
        await balancing.make("rule", policy["id"], **rule)
        key = {"type": "HEADER", "key": "key", "compare_type": "EQUAL_TO", "value": "k"}
        made = await balancing.make("rule", policy["id"], **key, invert=True)
        assert (await web.ask("/api")).status_code == 403
        assert await web.who("/api", headers={"key": "k"}) == "one"
        assert await web.who("/") == "one"
        slow = {"type": "PATH", "compare_type": "REGEX", "value": "(a|aa)+$", "key": None}
        await balancing.change("rule", made["id"], policy["id"], **slow)
        assert (await web.ask("/api")).status_code == 403
        await balancing.change("l7policy", policy["id"], admin_state_up=False)
        assert await web.who("/api") == "one"


async def test_tcp_flows_both_ways_until_listener_ends(balancing: Balancing) -> None:
    balancer, listener, pool = await balancing.ready("TCP", 5000)
    await balancing.member(pool, 1)
    async with balancing.server(1, shouting):
        place = balancing.door(balancer, 5000)
        async with connected(place) as (reader, writer):
            for word in (b"hello\n", b"world\n"):
                writer.write(word)
                assert await asyncio.wait_for(reader.readline(), PATIENCE) == word.upper()
            stats = (await balancing.get(f"/listeners/{listener['id']}/stats"))["stats"]
            assert stats["active_connections"] == 1
            assert (stats["bytes_in"], stats["bytes_out"]) == (12, 12)
            await balancing.delete("listener", listener["id"])
            assert await asyncio.wait_for(reader.read(), PATIENCE) == b""
        with pytest.raises(OSError, match=r"refused|111"):
            await asyncio.open_connection(*place)


async def test_connections_above_the_limit_wait(balancing: Balancing) -> None:
    balancer, listener, pool = await balancing.ready("TCP", 5000)
    await balancing.change("listener", listener["id"], connection_limit=1)
    await balancing.member(pool, 1)
    async with balancing.server(1, shouting):
        place = balancing.door(balancer, 5000)
        async with connected(place) as first:
            first[1].write(b"a\n")
            assert await asyncio.wait_for(first[0].readline(), PATIENCE) == b"A\n"
            found = await balancing.show("listener", listener["id"])
            assert found["operating_status"] == "DEGRADED"
            async with connected(place) as second:
                second[1].write(b"b\n")
                answer = asyncio.create_task(second[0].readline())
                await hang_up(first[1])
                assert await asyncio.wait_for(answer, PATIENCE) == b"B\n"


async def test_proxy_protocol_shows_client_to_members(balancing: Balancing) -> None:
    balancer = await balancing.balancer()
    fields = {"loadbalancer_id": balancer["id"], "protocol": "TCP", "protocol_port": 5000}
    listener = await balancing.make("listener", **fields)
    pool = await balancing.make(
        "pool", listener_id=listener["id"], protocol="PROXY", lb_algorithm="LEAST_CONNECTIONS"
    )
    await balancing.member(pool, 1)
    place = balancing.door(balancer, 5000)
    async with balancing.server(1, shouting), connected(place) as (reader, writer):
        port = writer.get_extra_info("sockname")[1]
        line = await asyncio.wait_for(reader.readline(), PATIENCE)
        assert line == f"PROXY TCP4 127.0.0.1 127.0.0.1 {port} 5000\r\n".encode()


async def test_least_connections_go_where_least_is_done(balancing: Balancing) -> None:
    balancer, _, pool = await balancing.ready("TCP", 5000, lb_algorithm="LEAST_CONNECTIONS")
    for number in (1, 2):
        await balancing.member(pool, number)

    def counting(served: list[int]) -> Any:
        async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            served.append(1)
            await shouting(reader, writer)

        return answer

    one: list[int] = []
    two: list[int] = []
    async with (
        balancing.server(1, counting(one)),
        balancing.server(2, counting(two)),
        AsyncExitStack() as opened,
    ):
        for _ in range(4):
            place = balancing.door(balancer, 5000)
            reader, writer = await opened.enter_async_context(connected(place))
            writer.write(b"x\n")
            await asyncio.wait_for(reader.readline(), PATIENCE)
        assert (len(one), len(two)) == (2, 2)


class _Shouting(asyncio.DatagramProtocol):
    def __init__(self) -> None:
        self.transport: Any = None

    def connection_made(self, transport: Any) -> None:
        self.transport = transport

    def datagram_received(self, data: bytes, addr: Any) -> None:
        self.transport.sendto(data.upper(), addr)


class _Heard(asyncio.DatagramProtocol):
    def __init__(self) -> None:
        self.heard: asyncio.Queue[bytes] = asyncio.Queue()

    def datagram_received(self, data: bytes, addr: Any) -> None:
        self.heard.put_nowait(data)


async def test_datagrams_go_to_one_member_and_back(balancing: Balancing) -> None:
    balancer, listener, pool = await balancing.ready("UDP", 5353)
    await balancing.member(pool, 1)
    loop = asyncio.get_running_loop()
    server, _ = await loop.create_datagram_endpoint(_Shouting, ("127.0.0.1", 0))
    balancing.appliances.servers["10.0.0.101", 8080] = server.get_extra_info("sockname")[1]
    place = balancing.door(balancer, 5353)
    client, heard = await loop.create_datagram_endpoint(_Heard, remote_addr=place)
    for word in (b"a", b"b"):
        client.sendto(word)
        assert await asyncio.wait_for(heard.heard.get(), PATIENCE) == word.upper()
    stats = (await balancing.get(f"/listeners/{listener['id']}/stats"))["stats"]
    assert (stats["bytes_in"], stats["bytes_out"], stats["total_connections"]) == (2, 2, 1)
    client.close()
    server.close()
    await asyncio.sleep(0)  # closed ends release their sockets


async def test_a_switch_to_another_protocol_is_carried(balancing: Balancing) -> None:
    balancer, _, pool = await balancing.ready()
    await balancing.member(pool, 1)

    async def switch(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = await reader.readuntil(b"\r\n\r\n")
        assert b"upgrade: echo" in head.lower()
        writer.write(b"HTTP/1.1 101 Switching Protocols\r\n")
        writer.write(b"Connection: upgrade\r\nUpgrade: echo\r\n\r\n")
        await shouting(reader, writer)

    place = balancing.door(balancer)
    async with balancing.server(1, switch), connected(place) as (reader, writer):
        writer.write(b"GET / HTTP/1.1\r\nHost: a\r\n")
        writer.write(b"Connection: Upgrade\r\nUpgrade: echo\r\n\r\n")
        head = await asyncio.wait_for(reader.readuntil(b"\r\n\r\n"), PATIENCE)
        assert b"101" in head
        writer.write(b"hello\n")
        assert await asyncio.wait_for(reader.readline(), PATIENCE) == b"HELLO\n"
