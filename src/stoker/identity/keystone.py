"""The identity service, spoken to from the event loop."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any

import httpx

from stoker.identity.grants import Grant, by_password, granted, unavailable
from stoker.identity.settings import IdentitySettings, User
from stoker.kernel.clock import Clock

_MARGIN = 60.0
_RENEWAL_PAUSE = 30.0


class Keystone:
    """A client of the identity service. ``transport`` is for tests; None is the network."""

    def __init__(
        self,
        settings: IdentitySettings,
        clock: Clock,
        transport: httpx.AsyncBaseTransport | None = None,
    ) -> None:
        self.settings = settings
        self._clock = clock
        self._transport = transport
        self._client: httpx.AsyncClient | None = None
        self._grants: dict[User, tuple[Grant, float]] = {}
        self._lock = asyncio.Lock()

    async def request(
        self,
        method: str,
        path: str,
        *,
        token: str | None = None,
        json: Any = None,
        headers: Mapping[str, str] | None = None,
        params: Mapping[str, str] | None = None,
    ) -> httpx.Response:
        """An answer below 500; refuses (503) when there is none."""
        sent = {**(headers or {})}
        if token is not None:
            sent["X-Auth-Token"] = token
        try:
            response = await self._http().request(
                method, self.settings.api_url + path, json=json, headers=sent, params=params
            )
        except httpx.HTTPError as error:
            raise unavailable(str(error) or type(error).__name__) from error
        if response.status_code >= httpx.codes.INTERNAL_SERVER_ERROR:
            raise unavailable(f"status {response.status_code}")
        return response

    async def authenticate(self, request: Mapping[str, Any]) -> Grant | None:
        """The token that a request for one gets; None when it is refused."""
        return granted(await self.request("POST", "/auth/tokens", json=request))

    async def grant_of(self, user: User, *, renew: bool = False) -> Grant:
        """A valid token of a user whose password we know, kept while it is valid.

        ``renew`` asks for a new one, which is done at most every 30 seconds: clients can provoke
        it, and it is costly. Refuses (503) when the identity service does not accept the user,
        since that is our fault and not the client's.
        """
        async with self._lock:
            now = self._clock.now()
            kept, since = self._grants.get(user, (None, 0.0))
            fresh = not renew or since > now - _RENEWAL_PAUSE
            if kept is not None and fresh and kept.expires_at > now + _MARGIN:
                return kept
            grant = await self.authenticate(by_password(user))
            if grant is None:
                raise unavailable(f'it refuses the user "{user.name}"')
            self._grants[user] = (grant, now)
            return grant

    async def service_grant(self, *, renew: bool = False) -> Grant:
        """A valid token of the service's own user."""
        return await self.grant_of(self.settings.service_user, renew=renew)

    async def close(self) -> None:
        """Close all connections."""
        if self._client is not None:
            await self._client.aclose()
            self._client = None

    def _http(self) -> httpx.AsyncClient:
        """The HTTP client, made at the first use: loading certificates takes a while."""
        if self._client is None:
            self._client = httpx.AsyncClient(
                transport=self._transport,
                verify=self.settings.verify,
                timeout=self.settings.timeout,
                trust_env=False,
            )
        return self._client
