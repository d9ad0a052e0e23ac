"""Delivers messages to subscribers.

As in Zaqar, deliveries are not stored. A delivery in flight is lost when the cloud ends; the
message itself stays in the queue.
"""

import json
import logging
import urllib.error
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from localcloud.core.outgoing import OutgoingCalls
from localcloud.core.store import Document
from localcloud.messaging.model.state import TRUST, State

_LOG = logging.getLogger(__name__)
_THREADS = 10
_MOST_WAITING = 1000
_RETRY = 500  # statuses from here on are failures of the receiver, and are retried
_STEP = 5
_LONGEST_PAUSE = 3600
_MOST_TRIES = 100


class Webhooks:
    """Deliveries in flight."""

    def __init__(self, state: State) -> None:
        self._state = state
        self._calls = OutgoingCalls("webhook", _THREADS, _MOST_WAITING)

    def notify(self, queue: Document, messages: Sequence[Document]) -> None:
        """Start to send messages to all subscribers of a queue."""
        for subscription in self._state.subscriptions_of(queue["id"]):
            if not subscription["subscriber"].startswith(("http", TRUST)):
                continue
            policy = _policy(queue["metadata"], subscription["options"])
            for message in messages:
                self._begin(queue["name"], subscription, message, policy)

    async def idle(self) -> None:
        """Return when no delivery is in flight."""
        await self._calls.idle()

    async def stop(self) -> None:
        """Cancel all deliveries."""
        await self._calls.stop()

    def _begin(
        self, queue: str, subscription: Document, message: Document, policy: Mapping[str, Any]
    ) -> None:
        if self._calls.is_full:
            _LOG.warning("a message for %s is not sent: too many are", subscription["subscriber"])
            return
        sent = {**message, "Message_Type": "Notification", "queue_name": queue}
        body, options = json.dumps(sent), subscription["options"]
        if isinstance(options.get("post_data"), str):
            body = options["post_data"].replace('"$zaqar_message$"', body)
        headers = {"Content-Type": "application/json"}
        if isinstance(options.get("post_headers"), dict):
            headers |= {str(k): str(v) for k, v in options["post_headers"].items()}
        self._calls.start(self._send(subscription, body.encode(), headers, policy))

    async def _send(
        self,
        subscription: Document,
        body: bytes,
        headers: dict[str, str],
        policy: Mapping[str, Any],
    ) -> None:
        url, trust_id = subscription["subscriber"].removeprefix(TRUST), subscription.get("trust_id")
        for pause in [0, *_pauses(policy)]:
            if pause:
                await self._state.cloud.clock.sleep(pause)
            if trust_id is not None:
                headers["X-Auth-Token"] = self._state.trusts.token(trust_id) or ""
            try:
                await self._calls.post(url, body, headers, follows=trust_id is None)
            except urllib.error.HTTPError as error:
                error.close()
                # A client error is an answer: the receiver would refuse the message again.
                if error.code < _RETRY:
                    return
            except (OSError, ValueError):
                continue
            else:
                return
        _LOG.warning("a message for %s was not delivered", url)


def _policy(attributes: Document, options: Document) -> Mapping[str, Any]:
    own, of_queue = options.get("_retry_policy") or {}, attributes.get("_retry_policy") or {}
    override = "ignore_subscription_override"
    if own.get(override) or of_queue.get(override):
        return dict(of_queue)
    return dict(own or of_queue)


def _pauses(policy: Mapping[str, Any]) -> Iterator[int]:
    """Yield the seconds before each further try."""

    def number(name: str, default: int, most: int) -> int:
        value = policy.get(name)
        return min(max(int(value), 0), most) if isinstance(value, int) else default

    least = number("minimum_delay", 5, _LONGEST_PAUSE)
    most = number("maximum_delay", 30, _LONGEST_PAUSE)
    yield from [0] * number("retries_with_no_delay", 3, _MOST_TRIES)
    yield from [least] * number("minimum_delay_retries", 3, _MOST_TRIES)
    yield from list(range(least, most, _STEP))[:_MOST_TRIES]
    yield from [most] * number("maximum_delay_retries", 3, _MOST_TRIES)
