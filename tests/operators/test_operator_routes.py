"""The health check and metrics over HTTP, and the permissions for them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import httpx
import pytest
from starlette.routing import Router

from stoker.api.operators import Readers, operator_routes

LOOPBACK = ("127.0.0.0/8", "::1")


class Scene:
    """The routes, with recorded reports."""

    def __init__(self, token: str | None = None, networks: tuple[str, ...] = LOOPBACK) -> None:
        self.told: dict[str, Any] = {"version": "1"}
        self.disabled = False
        routes = operator_routes(
            Readers(networks, token), self._details, self._metrics, lambda: self.disabled
        )
        self._app = Router(routes)

    async def _details(self) -> Mapping[str, Any]:
        return self.told

    async def _metrics(self) -> str:
        return "stoker_commits_total 1.0\n"

    async def get(self, path: str, peer: str = "127.0.0.1", **headers: str) -> httpx.Response:
        transport = httpx.ASGITransport(self._app, client=(peer, 1))
        async with httpx.AsyncClient(transport=transport, base_url="http://s") as client:
            sent = {name: value.encode("latin-1") for name, value in headers.items()}
            return await client.get(path, headers=sent)


@pytest.mark.parametrize(
    ("peer", "headers", "status"),
    [
        ("127.0.0.1", {}, 200),
        ("::1", {}, 200),
        ("::ffff:127.0.0.1", {}, 200),
        ("10.0.0.7", {}, 403),
        ("10.0.0.7", {"authorization": "Bearer right"}, 200),
        ("10.0.0.7", {"authorization": "Bearer wrong"}, 403),
        ("10.0.0.7", {"authorization": "right"}, 403),
        ("10.0.0.7", {"authorization": "Bearer r\xefght"}, 403),
        # a proxy on this machine passes on what comes from elsewhere
        ("127.0.0.1", {"x-forwarded-for": "10.0.0.7"}, 403),
        ("127.0.0.1", {"forwarded": "for=10.0.0.7"}, 403),
        ("127.0.0.1", {"x-forwarded-proto": "https", "authorization": "Bearer right"}, 200),
        ("/run/socket", {}, 403),
    ],
)
async def test_metrics_are_for_given_networks_or_token(
    peer: str, headers: dict[str, str], status: int
) -> None:
    answer = await Scene("right").get("/metrics", peer, **headers)
    assert answer.status_code == status
    assert ("stoker_commits_total" in answer.text) == (status == 200)


async def test_unset_token_is_never_accepted() -> None:
    for sent in ("Bearer ", "Bearer None", ""):
        answer = await Scene(None).get("/metrics", "10.0.0.7", authorization=sent)
        assert answer.status_code == 403


async def test_networks_can_be_added_and_must_be_networks() -> None:
    scene = Scene(networks=("10.0.0.0/24",))
    assert (await scene.get("/metrics", "10.0.0.9")).status_code == 200
    assert (await scene.get("/metrics", "127.0.0.1")).status_code == 403
    with pytest.raises(ValueError, match="monitoring"):
        Readers(["monitoring"], None)


async def test_health_details_are_for_operators_only() -> None:
    scene = Scene()
    plain = await scene.get("/healthcheck", "10.0.0.7", accept="application/json")
    assert (plain.status_code, plain.text) == (200, "OK")
    detailed = await scene.get("/healthcheck", accept="application/json")
    assert (detailed.status_code, detailed.json()) == (200, {"version": "1"})
    scene.told["fault"] = "the database does not answer"
    assert (await scene.get("/healthcheck", accept="application/json")).status_code == 503
    assert (await scene.get("/healthcheck")).status_code == 200


async def test_a_service_is_taken_out_by_a_file() -> None:
    scene = Scene()
    scene.disabled = True
    for accept in ("*/*", "application/json"):
        answer = await scene.get("/healthcheck", accept=accept)
        assert (answer.status_code, answer.text) == (503, "DISABLED BY FILE")
