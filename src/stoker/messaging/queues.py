"""Sends events to the queues that stack environments name.

They are sent with the credentials of their stack. An event that is older than the queue would keep
it, because the service was unavailable for so long, is dropped.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from http import HTTPStatus
from typing import Any
from urllib.parse import quote

from msgspec import Struct

from stoker.engine.model.interfaces import Ports
from stoker.engine.model.records import Message, Stack
from stoker.kernel.logs.log import Log
from stoker.messaging.sender import MessageSink

log = Log(__name__)

MOST_WAITING = 100_000  # events of all stacks
SERVICE = "message"
_AT_ONCE = 20  # messages in one request
_MOST_CHARACTERS = 200_000  # characters in one request; Zaqar's default limit is 256 KiB
_ERRORS = 400
# Statuses of requests that can never succeed.
_NEVER = (
    HTTPStatus.BAD_REQUEST,
    HTTPStatus.REQUEST_ENTITY_TOO_LARGE,
    HTTPStatus.UNPROCESSABLE_ENTITY,
)


class _Post(Struct, frozen=True):
    """Messages for one request, with the credentials of one stack."""

    stack: Stack
    messages: list[Message]


class SinkUnavailableError(Exception):
    """The messaging service is unreachable, or refuses temporarily; the text has the reason."""


class Queues(MessageSink):
    """Puts events into queues."""

    def __init__(self, ports: Ports) -> None:
        self._ports = ports

    async def carry(self, messages: Sequence[Message]) -> int:
        """Send the messages of one queue; return how many were sent or can never be."""
        live = [message for message in messages if not self._is_stale(message)]
        for post in await self._posts(live):
            first = post.messages[0]
            try:
                await self._put(post)
            except Exception as error:  # noqa: BLE001 - whatever the cloud says, others go on
                away = isinstance(error, SinkUnavailableError)
                reason = str(error) if away else self._ports.faults.describe(error)
                queue = first.body["target"]
                log.warning("events wait: the queue does not take them", queue=queue, error=reason)
                return messages.index(first)
        return len(messages)

    def _is_stale(self, message: Message) -> bool:
        gone = (
            not message.body or message.created_at + message.body["ttl"] < self._ports.clock.now()
        )
        if gone:
            log.warning("an event is dropped: no queue would keep it any more", message=message.id)
        return gone

    async def _posts(self, messages: Sequence[Message]) -> list[_Post]:
        stacks: dict[str, Stack] = {}
        posts: list[_Post] = []
        size = 0
        for message in messages:
            stack = stacks.get(message.stack_id) or await self._ports.store.stack(message.stack_id)
            if stack is None:
                continue  # The stack was purged.
            stacks[message.stack_id] = stack
            size += len(json.dumps(message.body["event"]))
            last = posts[-1] if posts else None
            if (
                last is None
                or last.stack.credentials != stack.credentials
                or len(last.messages) == _AT_ONCE
                or size > _MOST_CHARACTERS
            ):
                posts.append(_Post(stack, []))
                size = 0
            posts[-1].messages.append(message)
        return posts

    async def _put(self, post: _Post) -> None:
        """Send one request; if it is refused for good, one for each message.

        Raise SinkUnavailableError.
        """
        status = await self._ports.workers.run(SERVICE, lambda: self._status(post))
        if status in _NEVER and len(post.messages) > 1:
            for message in post.messages:
                await self._put(_Post(post.stack, [message]))
        elif status in _NEVER:
            [message] = post.messages
            log.warning(
                "an event is dropped: its queue refuses it", message=message.id, status=status
            )
        elif status >= _ERRORS:
            raise SinkUnavailableError(f"HTTP {status}")

    def _status(self, post: _Post) -> int:
        """Send a request and return its status. Blocks."""
        cloud = self._ports.clouds.connection(post.stack)
        path = f"/queues/{quote(str(post.messages[0].body['target']), safe='')}/messages"
        # Zaqar rejects requests without a client id.
        headers = {"Client-ID": post.stack.id, "X-Project-Id": post.stack.project_id}
        body = {"messages": [_in_queue(message.body) for message in post.messages]}
        answer = cloud.service("message").request(path, "POST", headers=headers, json=body)
        return int(answer.status_code)


def _in_queue(body: Mapping[str, Any]) -> dict[str, Any]:
    return {"body": body["event"], "ttl": body["ttl"]}
