"""The messaging service as a small fake: its version 2 API for messages, with its limits."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import unquote
from uuid import UUID, uuid4

from keystoneauth1.exceptions.connection import ConnectFailure

MOST_BYTES = 262_144
_NAME = re.compile(r"[A-Za-z0-9_-]{1,64}")
_TTL = range(60, 1_209_601)


class Answer:
    def __init__(self, status: int, body: Any = None) -> None:
        self.status_code = status
        self._body = body

    def json(self) -> Any:
        return self._body


@dataclass
class Zaqar:
    """Queues by project and name; a message to a queue that there is not makes it."""

    queues: dict[tuple[str, str], list[dict[str, Any]]] = field(default_factory=dict)
    away: bool = False
    status: int | None = None  # answer to every request
    requests: int = 0
    tokens: list[Mapping[str, Any]] = field(default_factory=list)  # credentials of the requests

    def request(self, url: str, method: str, *, headers: Mapping[str, str], json: Any) -> Answer:
        """Answers as the adapter of keystoneauth does."""
        self.requests += 1
        if self.away:
            raise ConnectFailure("connection refused")
        if self.status is not None:
            return Answer(self.status)
        found = re.fullmatch(r"/queues/([^/]+)/messages", url)
        assert found is not None
        assert method == "POST"
        UUID(headers["Client-ID"])  # the service refuses anything else
        name = unquote(found[1])
        if not _NAME.fullmatch(name) or not self._acceptable(json):
            return Answer(400)
        queue = self.queues.setdefault((headers["X-Project-Id"], name), [])
        queue += json["messages"]
        ids = [uuid4().hex for _ in json["messages"]]
        return Answer(201, {"resources": [f"/v2{url}/{each}" for each in ids]})

    def _acceptable(self, body: Any) -> bool:
        fits = len(json.dumps(body)) <= MOST_BYTES
        return fits and all(
            each.keys() == {"body", "ttl"} and each["ttl"] in _TTL for each in body["messages"]
        )


@dataclass
class ZaqarCloud:
    """Clouds (of the engine) that have nothing else."""

    zaqar: Zaqar

    def connection(self, stack: Any) -> Any:
        self.zaqar.tokens.append(stack.credentials)
        return self

    def service(self, service_type: str) -> Zaqar:
        assert service_type == "message"
        return self.zaqar
