"""The session of a browser, in its cookie, and one-time tickets for a first session.

Both are sealed texts: no process keeps a session, so each process of the service and each later one
accepts them. A text that was sealed for one purpose is refused for the other.
"""

from __future__ import annotations

import hashlib
import secrets
from typing import TypeVar

import msgspec
from msgspec import Struct
from starlette.requests import Request
from starlette.responses import Response

from stoker.api.console.origin import is_encrypted
from stoker.api.console.ports import Seals, Spend
from stoker.kernel.clock import Clock
from stoker.kernel.errors import BAD_REQUEST, ValidationError

_Value = TypeVar("_Value", bound=Struct)

COOKIE = "stoker_console"
PATH = "/console"
TICKET_SECONDS = 60.0
LONGEST = 3900  # characters of a cookie: browsers drop one with more than 4096 bytes
_SESSION, _TICKET = "console session", "console ticket"


class _Content(Struct, frozen=True):
    token: str
    expires_at: float


class Session(Struct, frozen=True):
    """A signed-in user: a token, its expiry in seconds since the epoch, and the cookie's text."""

    token: str
    expires_at: float
    cookie: str

    @property
    def id(self) -> str:
        """An id for the page, which differs for each cookie. It gives no access."""
        return hashlib.sha256(self.cookie.encode()).hexdigest()[:32]


class _Ticket(Struct, frozen=True):
    id: str
    token: str
    expires_at: float


class Sessions:
    """Reads and writes the cookie, and makes and accepts tickets."""

    def __init__(self, seals: Seals, spend: Spend, clock: Clock) -> None:
        self._seals, self._spend, self._clock = seals, spend, clock

    def of(self, request: Request) -> Session | None:
        """Return the session of a request, or None without a valid cookie."""
        text = request.cookies.get(COOKIE, "")
        if not text or len(text) > LONGEST:
            return None
        found = self._open(text, _SESSION, _Content)
        if found is None or found.expires_at <= self._clock.now():
            return None
        return Session(found.token, found.expires_at, text)

    def start(self, token: str, expires_at: float) -> Session:
        """Return a new session. Raise RequestError (400) for a token too long for a cookie."""
        text = self._seal(_Content(token, expires_at), _SESSION)
        if len(text) > LONGEST:
            raise ValidationError(
                "The token of the identity service is too long for a cookie.", BAD_REQUEST
            )
        return Session(token, expires_at, text)

    def set(self, response: Response, request: Request, session: Session) -> None:
        """Set the cookie."""
        _cookie(response, request, session.cookie)

    def clear(self, response: Response, request: Request) -> None:
        """Remove the cookie."""
        _cookie(response, request, "", max_age=0)

    def ticket_for(self, token: str) -> str:
        """Return a ticket that is exchanged once for a session with a token."""
        expires_at = self._clock.now() + TICKET_SECONDS
        return self._seal(_Ticket(secrets.token_hex(16), token, expires_at), _TICKET)

    async def token_of(self, ticket: str) -> str | None:
        """Return the token of a ticket, or None if it is not valid, too old, or was used."""
        opened = self._open(ticket, _TICKET, _Ticket)
        if opened is None or opened.expires_at <= self._clock.now():
            return None
        return opened.token if await self._spend(opened.id, opened.expires_at) else None

    def _seal(self, value: Struct, purpose: str) -> str:
        return self._seals.seal(msgspec.json.encode(value).decode(), purpose)

    def _open(self, text: str, purpose: str, kind: type[_Value]) -> _Value | None:
        plain = self._seals.unseal(text, purpose)
        try:
            return None if plain is None else msgspec.json.decode(plain, type=kind)
        except msgspec.DecodeError:
            return None  # sealed by another release


def _cookie(response: Response, request: Request, text: str, max_age: int | None = None) -> None:
    response.set_cookie(
        COOKIE,
        text,
        max_age=max_age,
        path=PATH,
        secure=is_encrypted(request),
        httponly=True,
        samesite="strict",
    )
