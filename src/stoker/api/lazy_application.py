"""An application that is made when it is first asked, so that a service starts without it."""

from __future__ import annotations

from collections.abc import Callable

from starlette.types import ASGIApp, Receive, Scope, Send

from stoker.kernel.lazy import lazy


class LazyApplication:
    """Stands for an application that takes long to load."""

    def __init__(self, make: Callable[[], ASGIApp]) -> None:
        self._make = make

    @lazy
    def application(self) -> ASGIApp:
        """The application itself."""
        return self._make()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        await self.application(scope, receive, send)
