"""Authenticates requests by token, or by name and password if that is enabled."""

from __future__ import annotations

import asyncio
import hashlib
from collections import OrderedDict
from collections.abc import Mapping
from dataclasses import dataclass
from http import HTTPStatus
from urllib.parse import quote

from stoker.engine.model.requests import Caller
from stoker.identity.callers import IsAdmin, caller_of
from stoker.identity.grants import Grant, by_password, json_of, project_scope, read_grant
from stoker.identity.keystone import Keystone
from stoker.identity.settings import User
from stoker.kernel.clock import Clock
from stoker.kernel.errors import RequestError

_LONGEST_TOKEN = 16384


@dataclass(slots=True)
class _Known:
    """A validated caller, with the end of the cache entry and the time of the next check."""

    caller: Caller
    until: float
    check_at: float


class Authenticator:
    """Validates the credentials of requests, with a cache of valid tokens.

    The cache contains at most ``token_cache_size`` tokens by their hash, for at most
    ``token_cache_time`` seconds and never beyond their expiry. After a third of that time they are
    validated again in the background, so that a revoked token is accepted no longer than
    ``token_cache_time``.

    A service that works on behalf of a user sends a token of its own beside that of the user
    (``X-Service-Token``). If it has one of ``service_token_roles``, the user's may have expired
    meanwhile, for as long as the identity service allows, as with keystonemiddleware.
    """

    def __init__(
        self,
        keystone: Keystone,
        clock: Clock,
        is_admin: IsAdmin,
    ) -> None:
        self._keystone = keystone
        self._settings = keystone.settings
        self._clock = clock
        self._is_admin = is_admin
        self._known: OrderedDict[bytes, _Known] = OrderedDict()
        self._checks: set[asyncio.Task[None]] = set()

    async def close(self) -> None:
        """Cancel running checks."""
        for task in self._checks:
            task.cancel()
        await asyncio.gather(*self._checks, return_exceptions=True)

    async def __call__(self, headers: Mapping[str, str], project_id: str | None) -> Caller | None:
        """Return the caller, or None if the request is not authenticated.

        Raise RequestError (503) if Keystone does not respond.
        """
        token = headers.get("x-auth-token", "")
        if token:
            service_token = headers.get("x-service-token")
            if service_token is None:
                return await self._by_token(token)
            return await self._by_service(token, service_token)
        name, password = headers.get("x-auth-user"), headers.get("x-auth-key")
        if self._settings.passwords and name and password and project_id:
            domain = headers.get("x-user-domain-name") or self._settings.service_user.domain_name
            return await self._by_password(User(name, password, domain), project_id)
        return None

    def forget(self, token: str) -> None:
        """Drop a token from the cache, after it was revoked."""
        self._known.pop(_digest("token", token), None)

    async def _by_service(self, token: str, service_token: str) -> Caller | None:
        """Return the user for whom a service sends a request."""
        service = await self._by_token(service_token)
        if service is None:
            return None
        trusted = not service.roles.isdisjoint(self._settings.service_token_roles)
        if self._settings.service_token_roles_required and not trusted:
            return None
        return await self._by_token(token, expired=trusted)

    async def _by_token(self, token: str, *, expired: bool = False) -> Caller | None:
        """Return the user of a token. With ``expired``, an expired token is accepted."""
        token = token.strip()  # White space at the end of a header line is not part of the value.
        if not is_token(token):
            return None
        key = _digest("expired" if expired else "token", token)
        known = self._remembered(key)
        if known is not None:
            if known.check_at <= self._clock.now():
                known.check_at = known.until  # Check each cache entry only once.
                self._check_later(key, token, expired=expired)
            return known.caller
        grant = await self._validate(token, expired=expired)
        return await self._remember(key, grant, expired=expired) if grant is not None else None

    def _check_later(self, key: bytes, token: str, *, expired: bool) -> None:
        """Validate the token in the background, so that a busy client never waits for it."""
        task = asyncio.ensure_future(self._check(key, token, expired=expired))
        self._checks.add(task)
        task.add_done_callback(self._checks.discard)

    async def _check(self, key: bytes, token: str, *, expired: bool) -> None:
        try:
            grant = await self._validate(token, expired=expired)
        except RequestError:
            return  # Keystone is unreachable. Keep the cached token; it expires on its own.
        if grant is None:
            self._known.pop(key, None)
        else:
            await self._remember(key, grant, expired=expired)

    async def _by_password(self, user: User, project_id: str) -> Caller | None:
        key = _digest("password", user.name, user.domain_name or "", user.password, project_id)
        known = self._remembered(key)
        if known is not None:
            return known.caller
        grant = await self._keystone.authenticate(by_password(user, project_scope(project_id)))
        return await self._remember(key, grant) if grant is not None else None

    async def _validate(self, token: str, *, expired: bool) -> Grant | None:
        response = await self._keystone.call(
            self._settings.service_user,
            "GET",
            "/auth/tokens",
            headers={"X-Subject-Token": token},
            params={"nocatalog": "", **({"allow_expired": "1"} if expired else {})},
        )
        if response.status_code != HTTPStatus.OK:
            return None
        grant = read_grant(token, json_of(response))
        return grant if expired or grant.expires_at > self._clock.now() else None

    def _remembered(self, key: bytes) -> _Known | None:
        known = self._known.get(key)
        if known is None:
            return None
        if known.until <= self._clock.now():
            del self._known[key]
            return None
        self._known.move_to_end(key)
        return known

    async def _remember(self, key: bytes, grant: Grant, *, expired: bool = False) -> Caller:
        caller = await caller_of(grant, self._settings, self._is_admin)
        now, lifetime = self._clock.now(), max(self._settings.token_cache_time, 0.0)
        until = now + lifetime if expired else min(now + lifetime, grant.expires_at)
        self._known[key] = _Known(caller, until, now + lifetime / 3)
        while len(self._known) > self._settings.token_cache_size:
            self._known.popitem(last=False)
        return caller


def is_token(text: str) -> bool:
    """Return whether a text can be a token, so that it may be sent in a header."""
    is_short = 0 < len(text) <= _LONGEST_TOKEN
    return is_short and text.isascii() and text.isprintable()


def _digest(*parts: str) -> bytes:
    text = "/".join(quote(part, safe="") for part in parts)
    return hashlib.sha256(text.encode()).digest()
