"""Polls objects in bulk: when many callers wait for objects, one list serves all.

A list is shared by all polls that follow soon. An object in it may be slightly older than the poll.
So a list serves only waits for a status that does not change again: the end of a create or delete.

A poll occupies one of the calls that the service allows at a time. So it does not wait for a list
that another poll requests, if the previous list still serves. And the more callers wait, the longer
each pauses between its polls (:func:`pause_for`).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from threading import Lock
from typing import Any
from weakref import WeakKeyDictionary

from stoker.clouds.faults import CloudError
from stoker.clouds.objects.collection import Collection, Object

_MANY = 5  # Fewer waiting calls use one request each.
_UNUSED_SECONDS = 10.0  # A list is dropped when nothing has used it for this time.
_MOST = 500  # Maximum entries of a list; newest first, since calls wait for new objects.
_PAUSE_PER_CALLER_SECONDS = 0.004
_NEVER = float("-inf")


@dataclass(slots=True)
class _Shared:
    """State of one collection, as one connection sees it."""

    # Ids of the polled objects, in the present interval and in the one before.
    waiting: set[str] = field(default_factory=set)
    waited: set[str] = field(default_factory=set)
    interval_start: float = _NEVER
    listed: dict[str, Object] = field(default_factory=dict)
    requested_at: float = _NEVER  # Time at which the list was requested, or earlier.
    turn: Lock = field(default_factory=Lock)

    def add(self, object_id: str, now: float, interval: float) -> int:
        """Note a poll; return the number of callers that poll once per interval."""
        if not 0.0 <= now - self.interval_start < interval:
            is_next = 0.0 <= now - self.interval_start < 2 * interval
            self.waited = self.waiting if is_next else set()
            self.waiting, self.interval_start = set(), now
        self.waiting.add(object_id)
        return max(len(self.waiting), len(self.waited))

    def known(self, object_id: str, now: float, age: float) -> Object | None:
        """Return the object, unless the list was requested longer ago than ``age``."""
        is_recent = abs(now - self.requested_at) <= age
        return self.listed.get(object_id) if is_recent else None


_shared: WeakKeyDictionary[Any, dict[str, _Shared]] = WeakKeyDictionary()
_lock = Lock()


def poll(
    cloud: Any, collection: Collection, object_id: str, now: float, age: float
) -> Object | None:
    """Return the object as it was about ``age`` seconds before ``now``; None if it is gone.

    Callers poll once in twice this time.
    """
    if not collection.detailed:
        return collection.find(cloud, object_id)
    with _lock:
        shared = _shared.setdefault(cloud, {}).setdefault(collection.path, _Shared())
        many = shared.add(object_id, now, 2 * age)
    if many >= _MANY:
        found = shared.known(object_id, now, 2 * age)
        if not shared.turn.acquire(blocking=found is None):
            return found
        try:
            if abs(now - shared.requested_at) > age:
                _forget_unused(now)
                shared.listed = _listed(cloud, collection, min(2 * many, _MOST))
                shared.requested_at = now
            found = shared.listed.get(object_id)
        finally:
            shared.turn.release()
        if found is not None:
            # The object may be missing because the list is limited, so request it before reporting
            # it as gone.
            return found
    return collection.find(cloud, object_id)


def pause_for(cloud: Any, collection: Collection, now: float) -> float:
    """Return the least seconds between polls for an object, so that all polls are few enough."""
    if not collection.detailed:
        return 0.0
    with _lock:
        shared = _shared.get(cloud, {}).get(collection.path)
        if shared is None or not 0.0 <= now - shared.interval_start < _UNUSED_SECONDS:
            return 0.0
        return _PAUSE_PER_CALLER_SECONDS * max(len(shared.waiting), len(shared.waited))


def _forget_unused(now: float) -> None:
    """Drop the lists that nothing has used recently."""
    with _lock:
        for kinds in _shared.values():
            for shared in kinds.values():
                if shared.requested_at < now - _UNUSED_SECONDS:
                    shared.listed = {}


def _listed(cloud: Any, collection: Collection, most: int) -> dict[str, Object]:
    """Return the newest objects by id; an empty map if the list fails."""
    try:
        answer = collection.ask(cloud, "GET", collection.detailed, params={"limit": most})
    except CloudError:
        return {}
    return {item[collection.id_field]: item for item in answer.get(collection.plural) or []}
