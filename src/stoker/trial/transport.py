"""A synchronous httpx transport to an application on the event loop of another thread."""

from __future__ import annotations

import asyncio

import httpx
from starlette.types import ASGIApp

PROJECT = "test"


class ThreadTransport(httpx.BaseTransport):
    """Sends requests to an application, and answers for the identity service."""

    def __init__(self, loop: asyncio.AbstractEventLoop, app: ASGIApp) -> None:
        self._loop = loop
        self._inner = httpx.ASGITransport(app, raise_app_exceptions=False)

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        """Return the response of the application, or of the imagined identity service."""
        if request.url.path == "/v3/auth/tokens":
            token = {"project": {"id": PROJECT}, "catalog": []}
            return httpx.Response(201, headers={"X-Subject-Token": "t"}, json={"token": token})
        request.read()
        return asyncio.run_coroutine_threadsafe(self._answer(request), self._loop).result()

    async def _answer(self, request: httpx.Request) -> httpx.Response:
        content = httpx.Request(
            request.method, request.url, headers=request.headers, content=request.content
        )
        response = await self._inner.handle_async_request(content)
        return httpx.Response(
            response.status_code, headers=response.headers, content=await response.aread()
        )
