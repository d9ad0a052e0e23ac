"""An application that is created on its first request, so that the service starts faster."""

from __future__ import annotations

from collections.abc import Callable

from starlette.types import ASGIApp, Receive, Scope, Send

from stoker.kernel.lazy import lazy


class LazyApplication:
    """Represents an application that takes long to load."""

    def __init__(self, make: Callable[[], ASGIApp]) -> None:
        self._make = make

    @lazy
    def application(self) -> ASGIApp:
        """Return the application itself."""
        return self._make()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Respond to one request."""
        await self.application(scope, receive, send)
