"""A client of Keystone for the event loop, and through it for worker threads."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Callable, Coroutine, Mapping
from http import HTTPStatus
from typing import TYPE_CHECKING, Any, TypeVar

from stoker.identity.grants import Grant, by_password, granted, out_of_order, unavailable
from stoker.identity.problems import Problems
from stoker.identity.settings import IdentitySettings, User
from stoker.kernel.clock import Clock
from stoker.kernel.errors import UnavailableError
from stoker.kernel.lazy import LazyModule
from stoker.kernel.logs.log import request_across

if TYPE_CHECKING:
    import httpx
else:
    httpx = LazyModule("httpx")

Answer = TypeVar("Answer")

# Called after each request with service, status (0 without a response), seconds and kind.
Called = Callable[[str, int, float, str], None]

_SERVICE = "identity"
_REQUESTS = "requests"
_MARGIN = 60.0
_RENEWAL_PAUSE = 30.0


class Keystone:
    """A client of Keystone. ``transport`` is for tests; None means the network."""

    def __init__(
        self,
        settings: IdentitySettings,
        clock: Clock,
        transport: httpx.AsyncBaseTransport | None = None,
        called: Called = lambda service, status, seconds, kind: None,
    ) -> None:
        self.settings = settings
        self._called = called
        self._clock = clock
        self._transport = transport
        self._client: httpx.AsyncClient | None = None
        self._loading = threading.Lock()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._loop_thread = 0
        self._grants: dict[User, tuple[Grant, float]] = {}
        self._lock = asyncio.Lock()
        self._problems = Problems(settings.api_url)

    async def request(
        self,
        method: str,
        path: str,
        *,
        token: str | None = None,
        headers: Mapping[str, str] | None = None,
        **content: Any,
    ) -> httpx.Response:
        """Send a request and return the response.

        Raise RequestError (503) for a status of 500 and above, or if Keystone does not respond.
        ``content`` is passed to httpx.
        """
        sent = {**(headers or {})}
        if token is not None:
            sent["X-Auth-Token"] = token
        across = request_across()
        if across is not None:
            sent["X-Openstack-Request-Id"] = across
        if self._client is None:
            await asyncio.to_thread(self.load)
        assert self._client is not None
        url = self.settings.api_url + path
        status, started = 0, time.monotonic()
        try:
            response = await self._client.request(method, url, headers=sent, **content)
            status = response.status_code
        except httpx.HTTPError as error:
            reason = str(error) or type(error).__name__
            self._problems.failed(_REQUESTS, reason, self._clock.now())
            raise UnavailableError(out_of_order(reason)) from error
        finally:
            self._called(_SERVICE, status, time.monotonic() - started, method)
        if response.status_code >= HTTPStatus.INTERNAL_SERVER_ERROR:
            reason = f"status {response.status_code}"
            self._problems.failed(_REQUESTS, reason, self._clock.now())
            raise UnavailableError(out_of_order(reason))
        self._problems.worked(_REQUESTS)
        return response

    async def authenticate(self, request: Mapping[str, Any]) -> Grant | None:
        """Return the token for an authentication request, or None if it is refused."""
        return granted(await self.request("POST", "/auth/tokens", json=request))

    async def grant_of(self, user: User, *, renew: bool = False) -> Grant:
        """Return a valid token of a user whose password is configured; cache it while it is valid.

        ``renew`` requests a new token, but at most every 30 seconds: clients can trigger it, and it
        is expensive. Raise RequestError (503) if Keystone refuses the user, since the client cannot
        help it.
        """
        async with self._lock:
            now = self._clock.now()
            cached, since = self._grants.get(user, (None, 0.0))
            fresh = not renew or since > now - _RENEWAL_PAUSE
            if cached is not None and fresh and cached.expires_at > now + _MARGIN:
                return cached
            grant = await self.authenticate(by_password(user))
            subject = f"user {user.name}"
            if grant is None:
                reason = "its name, password, domain or project is rejected"
                self._problems.failed(subject, reason, now)
                raise unavailable(f'it refuses the user "{user.name}"')
            self._problems.worked(subject)
            self._grants[user] = (grant, now)
            return grant

    async def call(self, user: User, method: str, path: str, **content: Any) -> httpx.Response:
        """Send a request as a user; return the response. Renew a token that was revoked."""
        for renew in (False, True):
            token = (await self.grant_of(user, renew=renew)).token
            response = await self.request(method, path, token=token, **content)
            if response.status_code != HTTPStatus.UNAUTHORIZED:
                break
        return response

    def load(self) -> None:
        """Import the HTTP library before the first request. Blocks."""
        with self._loading:
            if self._client is None:
                settings = self.settings
                self._client = httpx.AsyncClient(
                    transport=self._transport,
                    verify=settings.verify if settings.api_url.startswith("https") else False,
                    timeout=settings.timeout,
                    trust_env=False,
                )

    def open(self) -> None:
        """Accept calls from threads on the running loop, until :meth:`close`."""
        self._loop, self._loop_thread = asyncio.get_running_loop(), threading.get_ident()

    def wait_for(self, call: Coroutine[Any, Any, Answer]) -> Answer:
        """Run ``call`` on the loop and wait for its result; for worker threads."""
        loop = self._loop
        if loop is None or threading.get_ident() == self._loop_thread:
            call.close()
            raise unavailable("this service ends" if loop is None else "nothing may block here")
        return asyncio.run_coroutine_threadsafe(call, loop).result()

    async def close(self) -> None:
        """Close all connections."""
        self._loop = None
        if self._client is not None:
            await self._client.aclose()
            self._client = None
