"""Message queues through which servers receive deployments and send reports.

The queues are in the project of the server's stack user, since each project has its own queues.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from http import HTTPStatus
from typing import Any
from urllib.parse import quote

from stoker.clouds.faults import fault_from, is_unauthorized
from stoker.resources.shared.signals.stack_user import login
from stoker.resources.shared.storage.temp_url import endpoint, has_endpoint
from stoker.schema.resource_type import Call

_ERRORS = 400
_MESSAGE_TTL_SECONDS = 3600
_SUBSCRIPTION_TTL_SECONDS = 220367260800  # Practically never; the service requires a number.
_MAX_MESSAGES = 10  # per request


def queue_of(call: Call) -> str:
    """Return the name of the resource's queue; that of a stack from Heat is in the data."""
    return str(call.data.get("queue_id") or call.resource_id)


def ensure(call: Call, queue: str) -> None:
    """Create a queue.

    Raise :class:`stoker.kernel.errors.RequestError` without a message service.
    """
    endpoint(call, "message")
    _sent(call, "PUT", _path(queue))


def forward(call: Call, queue: str, address: str) -> None:
    """Have the messages of a queue sent to a URL; an existing subscription is fine."""
    subscription = {"subscriber": address, "ttl": _SUBSCRIPTION_TTL_SECONDS}
    answer = _answer(call, "POST", f"{_path(queue)}/subscriptions", subscription)
    if answer.status_code != HTTPStatus.CONFLICT and answer.status_code >= _ERRORS:
        raise fault_from(answer)


def post(call: Call, queue: str, content: str) -> None:
    """Send a JSON text."""
    message = {"body": json.loads(content), "ttl": _MESSAGE_TTL_SECONDS}
    _sent(call, "POST", f"{_path(queue)}/messages", {"messages": [message]})


def messages(call: Call, queue: str) -> Sequence[Mapping[str, Any]]:
    """Return the oldest messages, each with ``body`` and ``href``."""
    answer = _answer(call, "GET", f"{_path(queue)}/messages?echo=true&limit={_MAX_MESSAGES}")
    if answer.status_code in (HTTPStatus.NOT_FOUND, HTTPStatus.NO_CONTENT):
        return ()
    if answer.status_code >= _ERRORS:
        raise fault_from(answer)
    found: list[Mapping[str, Any]] = answer.json().get("messages", [])
    return found


def remove(call: Call, queue: str) -> None:
    """Delete a queue with its messages. A missing queue or message service is fine."""
    if not has_endpoint(call, "message"):
        return
    try:
        answer = _answer(call, "DELETE", _path(queue))
    except Exception as fault:
        if not is_unauthorized(fault):
            raise
        return  # The stack user is deleted already, so the queue is not accessible any more.
    if answer.status_code != HTTPStatus.NOT_FOUND and answer.status_code >= _ERRORS:
        raise fault_from(answer)


def _path(queue: str) -> str:
    return f"/queues/{quote(queue)}"


def _sent(call: Call, method: str, path: str, body: Any = None) -> None:
    answer = _answer(call, method, path, body)
    if answer.status_code >= _ERRORS:
        raise fault_from(answer)


def _answer(call: Call, method: str, path: str, body: Any = None) -> Any:
    # Zaqar rejects requests without a client id.
    headers = {"Client-ID": call.resource_id}
    more: dict[str, Any] = {} if body is None else {"json": body}
    auth = login(call)
    if auth is not None:
        more["auth"] = auth
    return call.cloud.service("message").request(path, method, headers=headers, **more)
