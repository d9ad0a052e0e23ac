"""The health check, with figures for clients that accept JSON."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route


def health_route(report: Callable[[], Mapping[str, Any]]) -> Route:
    """``GET /healthcheck``; needs no token, so that the figures name nothing of any project."""

    async def health(request: Request) -> Response:
        if "application/json" in request.headers.get("accept", ""):
            return JSONResponse(dict(report()))
        return Response()

    return Route("/healthcheck", health, methods=["GET", "HEAD"])
