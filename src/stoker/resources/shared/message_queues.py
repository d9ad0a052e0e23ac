"""Queues of the messaging service, through which servers get deployments and answer.

They lie in the project of the stack user that the server is: each project has its own.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from http import HTTPStatus
from typing import Any
from urllib.parse import quote

from stoker.clouds.faults import fault_from, is_unauthorized
from stoker.resources.shared.stack_user import login
from stoker.resources.shared.temp_url import endpoint, has_endpoint
from stoker.schema.resource_type import Call

_ERRORS = 400
_SECONDS = 3600
"""For which a message is kept."""
_FOR_EVER = 220367260800
"""Seconds; the messaging service wants a number."""
_MOST = 10
"""Messages that are read at once."""


def ensure(call: Call, queue: str) -> None:
    """Make a queue. Raises :class:`stoker.kernel.errors.Refused` for a cloud without them."""
    endpoint(call, "message")
    _sent(call, "PUT", _path(queue))


def forward(call: Call, queue: str, address: str) -> None:
    """Subscribe an address to the messages of a queue."""
    asked = {"subscriber": address, "ttl": _FOR_EVER}
    answer = _answer(call, "POST", f"{_path(queue)}/subscriptions", asked)
    if answer.status_code != HTTPStatus.CONFLICT and answer.status_code >= _ERRORS:
        raise fault_from(answer)


def post(call: Call, queue: str, content: str) -> None:
    """Send a text."""
    message = {"body": json.loads(content), "ttl": _SECONDS}
    _sent(call, "POST", f"{_path(queue)}/messages", {"messages": [message]})


def messages(call: Call, queue: str) -> Sequence[Mapping[str, Any]]:
    """The oldest messages that are there, each with ``body`` and ``href``."""
    answer = _answer(call, "GET", f"{_path(queue)}/messages?echo=true&limit={_MOST}")
    if answer.status_code in (HTTPStatus.NOT_FOUND, HTTPStatus.NO_CONTENT):
        return ()
    if answer.status_code >= _ERRORS:
        raise fault_from(answer)
    found: list[Mapping[str, Any]] = answer.json().get("messages", [])
    return found


def remove(call: Call, queue: str) -> None:
    """Remove a queue with its messages; none, or no messaging service, is fine."""
    if not has_endpoint(call, "message"):
        return
    try:
        answer = _answer(call, "DELETE", _path(queue))
    except Exception as fault:
        if not is_unauthorized(fault):
            raise
        return  # the user is gone already, and nobody can ask for the queue any more
    if answer.status_code != HTTPStatus.NOT_FOUND and answer.status_code >= _ERRORS:
        raise fault_from(answer)


def _path(queue: str) -> str:
    return f"/queues/{quote(queue)}"


def _sent(call: Call, method: str, path: str, body: Any = None) -> None:
    answer = _answer(call, method, path, body)
    if answer.status_code >= _ERRORS:
        raise fault_from(answer)


def _answer(call: Call, method: str, path: str, body: Any = None) -> Any:
    # the service wants to know which client it speaks to
    headers = {"Client-ID": call.resource_id}
    more: dict[str, Any] = {} if body is None else {"json": body}
    auth = login(call)
    if auth is not None:
        more["auth"] = auth
    return call.cloud.message.request(path, method, headers=headers, **more)
