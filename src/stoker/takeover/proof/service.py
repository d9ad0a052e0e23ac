"""The service on the taken-over database, in this process and without a port.

It answers requests and plans updates, and drives no stack. Callers are trusted: the operator of the
database asks, on behalf of the user who owns the stack.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any
from urllib.parse import unquote, urlsplit

from msgspec import Struct
from starlette.types import ASGIApp, Message

from stoker.engine.model.requests import Caller
from stoker.engine.service.service import Service
from stoker.server.app import App

_ROLES = frozenset({"heat_stack_owner", "member", "reader", "admin"})


class Answer(Struct, frozen=True):
    """The status and the JSON body of a response."""

    status: int
    body: Any


class ProofService:
    """Answers GET requests below ``/v1/{project}``."""

    def __init__(self, app: App, project_id: str, root: str) -> None:
        """``root`` is the URL of Heat's API without a version, for links in the answers."""
        self.service: Service = app.service
        self.caller = Caller(project_id, "", "takeover", _ROLES, is_admin=True)
        self._root = urlsplit(root)
        self._app: ASGIApp = app.rest_for(self._authenticate)

    async def _authenticate(
        self, headers: Mapping[str, str], project_id: str | None
    ) -> Caller | None:
        return self.caller

    async def get(self, path: str) -> Answer:
        """Return the answer to a path, as ``/stacks?show_nested=True``."""
        full, _, query = f"/v1/{self.caller.project_id}{path}".partition("?")
        scope = {
            "type": "http",
            "asgi": {"version": "3.0"},
            "http_version": "1.1",
            "method": "GET",
            "scheme": self._root.scheme or "http",
            "path": unquote(full),
            "raw_path": full.encode(),
            "root_path": "",
            "query_string": query.encode(),
            "headers": [
                (b"host", self._root.netloc.encode()),
                (b"accept", b"application/json"),
                (b"x-auth-token", b"takeover"),
            ],
            "client": ("127.0.0.1", 0),
            "server": (self._root.hostname or "127.0.0.1", self._root.port or 80),
        }
        sent: list[Message] = []

        async def receive() -> Message:
            return {"type": "http.request", "body": b"", "more_body": False}

        async def send(message: Message) -> None:
            sent.append(message)

        await self._app(scope, receive, send)
        body = b"".join(message.get("body", b"") for message in sent[1:])
        return Answer(sent[0]["status"], json.loads(body) if body else None)
