"""One id leads from a client's request through all operations to the calls to the cloud."""

from __future__ import annotations

import asyncio

import httpx
import pytest
import sqlalchemy as sa
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response

from stoker.api.interface import interface
from stoker.clouds.workers import Workers
from stoker.kernel.clock import SystemClock
from stoker.kernel.logs.log import request, request_across
from stoker.store.schema import tables
from tests.engine_world import Lab, in_lab, template, thing

GIVEN = "req-0b16cf3b-1c0f-4f3e-9d61-3c3f8b0c6a11"


async def test_threads_that_call_the_cloud_know_the_request() -> None:
    workers = Workers(SystemClock())

    async def call(name: str) -> str | None:
        with request(name):
            return await workers.run("compute", request_across)

    assert await asyncio.gather(call("req-a"), call("req-b")) == ["req-a", "req-b"]
    assert await workers.run("compute", request_across) is None
    workers.close()


@pytest.mark.parametrize(
    ("sent", "known"),
    [(GIVEN, True), ("req-1", False), (f"{GIVEN}\tx", False), ("x" * 2000, False), ("", False)],
)
async def test_client_request_id_is_kept_beside_our_own(sent: str, known: bool) -> None:
    async def respond(_: Request, request_id: str) -> Response:
        return PlainTextResponse(f"{request_id} {request_across()}")

    application = interface(respond, lambda error: PlainTextResponse(str(error), 500))
    transport = httpx.ASGITransport(application)
    async with httpx.AsyncClient(transport=transport, base_url="http://s") as client:
        answer = await client.get("/", headers={"X-OpenStack-Request-ID": sent})
    own, across = answer.text.split()
    assert answer.headers["x-openstack-request-id"] == own != sent
    assert across == (sent if known else own)


def test_operations_of_a_tree_have_the_request_id() -> None:
    nested = template({"inner": thing()})
    around = template({"part": {"type": "nested.yaml"}, "own": thing()})

    async def story(lab: Lab) -> list[tuple[str, str | None]]:
        with request("req-own", GIVEN):
            await lab.create(around, files={"nested.yaml": str(nested)})
        with request("req-second"):
            await lab.delete()
        columns = tables.operations.c
        with lab.world.database.connect() as connection:
            rows = connection.execute(sa.select(columns.action, columns.request_id))
            return [(str(action), request_id) for action, request_id in rows]

    found = in_lab(story)
    assert sorted(found) == [
        ("CREATE", GIVEN),
        ("CREATE", GIVEN),
        ("DELETE", "req-second"),
        ("DELETE", "req-second"),
    ]


def test_drivers_use_request_id_of_their_operations_only() -> None:
    seen: list[str | None] = []

    async def story(lab: Lab) -> None:
        ports = lab.engine.ports
        acquire = ports.store.acquire

        async def noting(stack_id: str) -> object:
            seen.append(request_across())
            return await acquire(stack_id)

        ports.store.acquire = noting  # type: ignore[method-assign]
        with request("req-a"):
            await lab.create(template({"a": thing()}))
        with request("req-b"):
            await lab.delete()

    in_lab(story)
    assert seen
    assert set(seen) == {None}
