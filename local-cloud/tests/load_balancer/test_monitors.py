"""Health monitors take members out, and in again."""

import asyncio
import time
from typing import Any

import pytest

from cloud_testing.balancers import Balancing

PATIENCE = 30.0
QUICK = {"delay": 0, "timeout": 5, "max_retries": 1, "max_retries_down": 1}


def saying(status: list[int]) -> Any:
    """A web server with the last of these statuses."""

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        asked = await reader.readuntil(b"\r\n\r\n")
        if b"/health" not in asked:
            writer.write(b"HTTP/1.0 404 Not Found\r\n\r\n")
        writer.write(b"HTTP/1.0 %d Something\r\n\r\n" % status[-1])

    return answer


async def becomes(
    balancing: Balancing, kind: str, object_id: str, status: str, owner: str = ""
) -> None:
    deadline = time.monotonic() + PATIENCE
    while (found := await balancing.show(kind, object_id, owner))["operating_status"] != status:
        assert time.monotonic() < deadline, found
        await asyncio.sleep(0.02)


async def test_failing_member_is_removed_and_reinstated(balancing: Balancing) -> None:
    balancer, _, pool = await balancing.ready()
    ill = await balancing.member(pool, 1)
    well = await balancing.member(pool, 2)
    told = [200]
    async with balancing.server(1, saying(told)), balancing.server(2, saying([204])):
        monitor = await balancing.make(
            "healthmonitor",
            pool_id=pool["id"],
            type="HTTP",
            url_path="/health",
            expected_codes="200-204",
            **QUICK,
        )
        for member in (ill, well):
            await becomes(balancing, "member", member["id"], "ONLINE", pool["id"])
        told.append(500)
        await becomes(balancing, "member", ill["id"], "ERROR", pool["id"])
        for kind, found in (("pool", pool), ("loadbalancer", balancer)):
            assert (await balancing.show(kind, found["id"]))["operating_status"] == "DEGRADED"
        told.append(200)
        await becomes(balancing, "member", ill["id"], "ONLINE", pool["id"])
        await balancing.change("healthmonitor", monitor["id"], expected_codes="200")
        await becomes(balancing, "member", well["id"], "ERROR", pool["id"])
        told.append(404)
        await becomes(balancing, "pool", pool["id"], "ERROR")
        await balancing.delete("healthmonitor", monitor["id"])
        await becomes(balancing, "member", ill["id"], "NO_MONITOR", pool["id"])
        assert (await balancing.show("pool", pool["id"]))["operating_status"] == "ONLINE"


@pytest.mark.parametrize("kind", ["TCP", "TLS-HELLO"])
async def test_a_member_must_accept_connections(balancing: Balancing, kind: str) -> None:
    _, _, pool = await balancing.ready("TCP", 5000)
    member = await balancing.member(pool, 1)
    await balancing.make("healthmonitor", pool_id=pool["id"], type=kind, **QUICK)
    await becomes(balancing, "member", member["id"], "ERROR", pool["id"])

    async def say_nothing(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        pass

    async with balancing.server(1, say_nothing):
        status = "ONLINE" if kind == "TCP" else "ERROR"
        await becomes(balancing, "member", member["id"], status, pool["id"])


async def test_a_member_can_be_asked_elsewhere(balancing: Balancing) -> None:
    _, _, pool = await balancing.ready()
    member = await balancing.member(pool, 1, monitor_address="10.0.0.105", monitor_port=8080)
    await balancing.make("healthmonitor", pool_id=pool["id"], type="TCP", **QUICK)
    await becomes(balancing, "member", member["id"], "ERROR", pool["id"])
    async with balancing.server(5, saying([200])):
        await becomes(balancing, "member", member["id"], "ONLINE", pool["id"])


async def test_monitor_thresholds_decide_member_status(balancing: Balancing) -> None:
    _, _, pool = await balancing.ready()
    member = await balancing.member(pool, 1)
    asked: list[bytes] = []
    answers: asyncio.Queue[int] = asyncio.Queue()

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        asked.append(await reader.readuntil(b"\r\n\r\n"))
        writer.write(b"HTTP/1.0 %d Something\r\n\r\n" % await answers.get())

    async def statuses(*codes: int) -> list[str]:
        """Return the status of the member after each of these answers."""
        found = []
        for code in codes:
            before = len(asked)
            answers.put_nowait(code)
            deadline = time.monotonic() + PATIENCE
            while len(asked) == before:
                assert time.monotonic() < deadline
                await asyncio.sleep(0.01)
            shown = await balancing.show("member", member["id"], pool["id"])
            found.append(shown["operating_status"])
        return found

    async with balancing.server(1, answer):
        counts = {"delay": 0, "timeout": 60, "max_retries": 2, "max_retries_down": 3}
        version = {"http_version": 1.1, "domain_name": "a.example", "http_method": "HEAD"}
        await balancing.make("healthmonitor", pool_id=pool["id"], type="HTTP", **counts, **version)
        deadline = time.monotonic() + PATIENCE
        while not asked:
            assert time.monotonic() < deadline
            await asyncio.sleep(0.01)
        assert await statuses(200, 500, 500, 500) == ["ONLINE", "ONLINE", "ONLINE", "ERROR"]
        assert await statuses(200, 500, 200, 200) == ["ERROR", "ERROR", "ERROR", "ONLINE"]
        assert asked[0].startswith(b"HEAD / HTTP/1.1\r\nHost: a.example\r\n")
