"""The identity service, spoken to from worker threads."""

from __future__ import annotations

from collections.abc import Mapping
from threading import Lock
from typing import Any

import httpx

from stoker.identity.grants import Grant, by_password, granted, json_of, unavailable
from stoker.identity.settings import IdentitySettings, User
from stoker.kernel.clock import Clock

_MARGIN = 60.0


class BlockingKeystone:
    """A client of the identity service. Every method blocks; all are safe to use from threads.

    ``transport`` is for tests; None is the network.
    """

    def __init__(
        self,
        settings: IdentitySettings,
        clock: Clock,
        transport: httpx.BaseTransport | None = None,
    ) -> None:
        self.settings = settings
        self._clock = clock
        self._transport = transport
        self._client: httpx.Client | None = None
        self._grants: dict[User, Grant] = {}
        self._lock = Lock()

    def authenticate(self, request: Mapping[str, Any]) -> Grant | None:
        """The token that a request for one gets; None when it is refused."""
        return granted(self._send("POST", "/auth/tokens", None, request, None))

    def grant_of(self, user: User, *, renew: bool = False) -> Grant:
        """A valid token of a user whose password we know, kept while it is valid."""
        with self._lock:
            kept = self._grants.get(user)
            if kept is not None and not renew and kept.expires_at > self._clock.now() + _MARGIN:
                return kept
            grant = self.authenticate(by_password(user))
            if grant is None:
                raise unavailable(f'it refuses the user "{user.name}"')
            self._grants[user] = grant
            return grant

    def call(
        self,
        user: User,
        method: str,
        path: str,
        body: Any = None,
        params: Mapping[str, str] | None = None,
    ) -> httpx.Response:
        """The answer to a request of ``user``; a token that was revoked meanwhile is renewed."""
        response = self._send(method, path, self.grant_of(user).token, body, params)
        if response.status_code == httpx.codes.UNAUTHORIZED:
            token = self.grant_of(user, renew=True).token
            response = self._send(method, path, token, body, params)
        return response

    def find(self, user: User, kind: str, params: Mapping[str, str]) -> list[Mapping[str, Any]]:
        """The objects of a kind, as ``users``, that fit; refuses (503) when it may not look."""
        response = self.call(user, "GET", f"/{kind}", params=params)
        if response.status_code != httpx.codes.OK:
            raise unavailable(f"status {response.status_code} for a list of {kind}")
        found: list[Mapping[str, Any]] = json_of(response).get(kind, [])
        return found

    def close(self) -> None:
        """Close all connections."""
        if self._client is not None:
            self._client.close()
            self._client = None

    def _send(
        self, method: str, path: str, token: str | None, body: Any, params: Mapping[str, str] | None
    ) -> httpx.Response:
        headers = {"X-Auth-Token": token} if token else {}
        url = self.settings.api_url + path
        try:
            response = self._http().request(method, url, json=body, headers=headers, params=params)
        except httpx.HTTPError as error:
            raise unavailable(str(error) or type(error).__name__) from error
        if response.status_code >= httpx.codes.INTERNAL_SERVER_ERROR:
            raise unavailable(f"status {response.status_code}")
        return response

    def _http(self) -> httpx.Client:
        if self._client is None:
            self._client = httpx.Client(
                transport=self._transport,
                verify=self.settings.verify,
                timeout=self.settings.timeout,
                trust_env=False,
            )
        return self._client
