"""Serves the console below ``/console``, and passes other requests on to the REST API.

Static files need no session. Every other request must come from the page itself
(:mod:`stoker.api.console.origin`). ``/console/api`` is the REST application: it gets the token of
the cookie in place of all credentials that the client sends, and answers as it does to others.
Every answer has the headers that keep the page apart from other sites.
"""

from __future__ import annotations

from collections.abc import Mapping
from urllib.parse import quote

from starlette.datastructures import MutableHeaders
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from stoker.api.console import assets
from stoker.api.console.documents import SESSION_ID, fault, refusal, session_changed
from stoker.api.console.endpoints import Endpoints
from stoker.api.console.origin import is_own_page, root_of
from stoker.api.console.ports import Parts
from stoker.api.console.sessions import PATH, Session, Sessions
from stoker.api.interface import interface

_API = f"{PATH}/api"
_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:;"
    " font-src 'self'; connect-src 'self'; worker-src 'self'; manifest-src 'self';"
    " base-uri 'none'; form-action 'self'; frame-ancestors 'none'"
)
HEADERS: Mapping[str, str] = {
    "Content-Security-Policy": _POLICY,
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "X-Frame-Options": "DENY",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
}
# Credentials of clients: the API behind the console accepts those of the session only.
_CREDENTIALS = frozenset(
    (
        b"authorization",
        b"cookie",
        b"x-auth-key",
        b"x-auth-token",
        b"x-auth-user",
        b"x-service-token",
        b"x-user-domain-name",
    )
)


class Console:
    """An application that answers requests below ``/console``, and passes others on."""

    def __init__(self, parts: Parts, rest: ASGIApp) -> None:
        self._behind_proxy = parts.settings.behind_proxy
        self._rest = rest
        self._sessions = Sessions(parts.seals, parts.spend, parts.clock)
        self._endpoints = Endpoints(parts, self._sessions)
        self._pages = interface(self._respond, fault)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Respond to one request."""
        path: str = scope.get("path", "")
        if path != PATH and not path.startswith(f"{PATH}/"):
            await self._rest(scope, receive, send)
        elif path.startswith(f"{_API}/"):
            await self._call_api(scope, receive, send)
        else:
            await self._pages(scope, receive, _with_headers(send))

    async def _respond(self, request: Request, request_id: str) -> Response:
        """Return the response of an endpoint, or a file of the page."""
        path = request.scope["path"].removeprefix(PATH)
        if not path:
            return RedirectResponse(f"{PATH}/", 308)
        endpoints = self._endpoints.at(path)
        if endpoints is None:
            if request.method not in ("GET", "HEAD"):
                return refusal(405, "Files can only be read.", Allow="GET, HEAD")
            return await assets.respond(path, request)
        if not self._is_own_page(request):
            return _foreign()
        endpoint = endpoints.get(request.method)
        if endpoint is None:
            allowed = ", ".join(endpoints)
            return refusal(405, f"Only {allowed} is possible here.", Allow=allowed)
        changes_session = path.startswith("/session") and request.method != "GET"
        if changes_session and _is_changed(request, self._sessions.of(request)):
            return session_changed()
        return await endpoint(request)

    async def _call_api(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Have the REST application answer, with the token of the session."""
        request = Request(scope)
        session = self._sessions.of(request)
        send = _with_headers(send, root_of(request, behind_proxy=self._behind_proxy))
        if not self._is_own_page(request):
            await _foreign()(scope, receive, send)
        elif session is None:
            await refusal(401, "There is no session, or it has expired.")(scope, receive, send)
        elif _is_changed(request, session):
            await session_changed()(scope, receive, send)
        else:
            await self._rest(_below(scope, session), receive, send)

    def _is_own_page(self, request: Request) -> bool:
        return is_own_page(request, behind_proxy=self._behind_proxy)


def _is_changed(request: Request, session: Session | None) -> bool:
    """Return whether the request names another session than that of the cookie."""
    named = request.headers.get(SESSION_ID)
    return named is not None and session is not None and named != session.id


def _foreign() -> Response:
    return refusal(403, "This address is only for the page of the console.")


def _below(scope: Scope, session: Session) -> Scope:
    """Return the request as the REST application would get it from a client with the token."""
    path = scope["path"].removeprefix(_API)
    headers = [pair for pair in scope["headers"] if pair[0].lower() not in _CREDENTIALS]
    headers.append((b"x-auth-token", session.token.encode("latin-1")))
    return {**scope, "path": path, "raw_path": quote(path).encode("ascii"), "headers": headers}


def _with_headers(send: Send, api_root: str | None = None) -> Send:
    """Return a sender that adds the headers of the console to an answer.

    An answer of the REST API is not stored, and leads to other addresses of it below the console,
    since the cookie is not sent elsewhere.
    """

    async def sending(message: Message) -> None:
        if message["type"] == "http.response.start":
            headers = MutableHeaders(scope=message)
            headers.update(HEADERS)
            if api_root is not None:
                headers["Cache-Control"] = "no-store"
                location = headers.get("location", "")
                if location.startswith(f"{api_root}/v1/"):
                    headers["location"] = f"{api_root}{_API}{location.removeprefix(api_root)}"
        await send(message)

    return sending
