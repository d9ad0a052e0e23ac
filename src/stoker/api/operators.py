"""Requests of operators and their tools: the health check, and metrics."""

from __future__ import annotations

import hmac
from collections.abc import Awaitable, Callable, Mapping, Sequence
from ipaddress import ip_address, ip_network
from typing import Any

from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, Response
from starlette.routing import Route

from stoker.api.interface import RETRY_AFTER
from stoker.engine.model.interfaces import StoreError
from stoker.kernel.logs.log import Log

log = Log(__name__)

_PROMETHEUS = "text/plain; version=0.0.4; charset=utf-8"
# The sender of a request with one of these headers is not the connected client.
_FORWARDED = ("forwarded", "x-forwarded-for", "x-forwarded-host", "x-forwarded-proto", "x-real-ip")


class Readers:
    """Permission to read figures: for clients in given networks, or with a token."""

    def __init__(self, networks: Sequence[str], token: str | None) -> None:
        """Raises ValueError for an invalid network."""
        self._networks = [ip_network(network.strip(), strict=False) for network in networks]
        self._token = token

    def admit(self, request: Request) -> bool:
        """Return whether the sender of a request may read figures."""
        sent = request.headers.get("authorization", "").encode("latin-1")
        if self._token and hmac.compare_digest(sent, f"Bearer {self._token}".encode()):
            return True
        if request.client is None or any(name in request.headers for name in _FORWARDED):
            return False
        try:
            address = ip_address(request.client.host)
        except ValueError:
            return False
        mapped = getattr(address, "ipv4_mapped", None) or address
        return any(mapped in network for network in self._networks)


def operator_routes(
    readers: Readers,
    details: Callable[[], Awaitable[Mapping[str, Any]]],
    metrics: Callable[[], Awaitable[str]],
    is_disabled: Callable[[], bool],
) -> list[Route]:
    """Return the routes ``/healthcheck``, which needs no token, and ``/metrics``.

    ``details`` contains ``fault`` with the reason if the service cannot work. While it
    ``is_disabled``, load balancers send no new requests here.
    """

    async def health(request: Request) -> Response:
        if is_disabled():
            return PlainTextResponse("DISABLED BY FILE", 503)
        if "application/json" in request.headers.get("accept", "") and readers.admit(request):
            report = await details()
            return JSONResponse(dict(report), 503 if "fault" in report else 200)
        return PlainTextResponse("OK")

    async def figures(request: Request) -> Response:
        if not readers.admit(request):
            return PlainTextResponse(
                "Metrics are for the networks of [metrics] allowed_addresses, and for who sends"
                " [metrics] token as a bearer token.\n",
                403,
            )
        try:
            return Response(await metrics(), media_type=_PROMETHEUS)
        except (StoreError, TimeoutError) as fault:
            text = f"The database does not answer: {fault or 'in time'}\n"
            return PlainTextResponse(text, 503, {"Retry-After": str(RETRY_AFTER)})

    return [
        Route("/healthcheck", health, methods=["GET", "HEAD"]),
        Route("/metrics", figures, methods=["GET", "HEAD"]),
    ]
