"""Traces from the request to the call to the cloud, in one trace whatever comes between."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import httpx
import pytest
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response

from stoker.api.interface import interface
from stoker.clouds.workers import Workers
from stoker.kernel.clock import SystemClock
from stoker.kernel.logs import tracing
from stoker.kernel.logs.log import request, request_across
from stoker.kernel.logs.tracing import span
from stoker.observability.tracing import Traces
from tests.engine_world import Lab, in_lab, template, thing

REQUEST = "req-0b16cf3b-1c0f-4f3e-9d61-3c3f8b0c6a11"
TRACE = REQUEST.removeprefix("req-").replace("-", "")
PARENT = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"


class Collected:
    """Traces that are kept in memory."""

    def __init__(self, ratio: float = 1.0) -> None:
        self._exporter = InMemorySpanExporter()
        self.traces = Traces(self._exporter, "test", ratio)

    def spans(self) -> list[Any]:
        self.traces.close()
        return list(self._exporter.get_finished_spans())

    def by_name(self) -> dict[str, Any]:
        return {each.name: each for each in self.spans()}


def trace_of(found: Any) -> str:
    return f"{found.context.trace_id:032x}"


@pytest.fixture
def collected() -> Iterator[Collected]:
    made = Collected()
    tracing.install(made.traces)
    yield made
    tracing.install(None)


async def asked(**headers: str) -> str:
    """Return the request id and trace that a handler sees."""

    async def respond(_: Request, __: str) -> Response:
        with span("inside"):
            return PlainTextResponse(str(request_across()))

    application = interface(respond, lambda error: PlainTextResponse(str(error), 500))
    transport = httpx.ASGITransport(application)
    async with httpx.AsyncClient(transport=transport, base_url="http://s") as client:
        return (await client.get("/v1/p/stacks", headers=headers)).text


async def test_request_starts_trace_with_its_id(collected: Collected) -> None:
    assert await asked(**{"X-OpenStack-Request-ID": REQUEST}) == REQUEST
    found = collected.by_name()
    assert trace_of(found["HTTP GET"]) == trace_of(found["inside"]) == TRACE
    assert found["inside"].parent.span_id == found["HTTP GET"].context.span_id
    assert found["HTTP GET"].attributes["stoker.path"] == "/v1/p/stacks"


async def test_request_continues_trace_of_its_client(collected: Collected) -> None:
    across = await asked(traceparent=PARENT)
    assert across == "req-4bf92f35-77b3-4da6-a3ce-929d0e0e4736"
    begun = collected.by_name()["HTTP GET"]
    assert (trace_of(begun), f"{begun.parent.span_id:016x}") == (PARENT[3:35], "00f067aa0ba902b7")


@pytest.mark.parametrize("parent", ["", "nonsense", "00-" + "0" * 32 + "-1-01", "x" * 3000])
async def test_malformed_trace_header_is_ignored(collected: Collected, parent: str) -> None:
    assert (await asked(traceparent=parent)).startswith("req-")


async def test_calls_on_threads_propagate_the_trace(collected: Collected) -> None:
    workers = Workers(SystemClock())
    with span("outer", REQUEST):
        handed = await workers.run("compute", tracing.headers)
    workers.close()
    assert handed["traceparent"].split("-")[1] == TRACE
    assert collected.by_name()["outer"].context.trace_id == int(TRACE, 16)


def test_operation_belongs_to_trace_of_its_request(collected: Collected) -> None:
    async def story(lab: Lab) -> None:
        with request("req-own", REQUEST):
            await lab.create(template({"a": thing()}))

    in_lab(story)
    found = collected.by_name()
    assert {"CREATE stack", "create Sim::Thing"} <= found.keys()
    assert {trace_of(each) for each in found.values()} == {TRACE}
    assert found["create Sim::Thing"].attributes["stoker.resource"] == "a"


def test_what_fails_is_marked_without_its_words(collected: Collected) -> None:
    with pytest.raises(ValueError, match="geheim"), span("outer", REQUEST):
        raise ValueError("password=geheim")
    found = collected.by_name()["outer"]
    assert not found.status.is_ok
    assert found.attributes["error.type"] == "ValueError"
    assert "geheim" not in found.to_json()


def test_a_share_of_the_requests_is_traced() -> None:
    for ratio, expected in ((0.0, 0), (1.0, 1)):
        made = Collected(ratio)
        with made.traces.span("outer", REQUEST, None, {}):
            pass
        assert len(made.spans()) == expected


def test_without_an_endpoint_nothing_is_traced() -> None:
    assert span("a") is span("b")
    assert tracing.headers() == {}
