"""Polls objects in bulk: when many callers wait for objects, one list serves all.

A list is shared by all polls that follow soon. An object in it may be slightly older than the poll.
So a list serves only waits for a status that does not change again: the end of a create or delete.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from threading import Lock
from typing import Any
from weakref import WeakKeyDictionary

from stoker.clouds.faults import CloudError
from stoker.clouds.objects.collection import Collection, Object

_MANY = 5  # Fewer waiting calls use one request each.
# A caller counts as waiting for this many seconds after its last poll. It is longer than any pause.
_REMEMBERED = 10.0
_MOST = 500  # Maximum entries of a list; newest first, since calls wait for new objects.


@dataclass(slots=True)
class _Shared:
    """State of one collection, as one connection sees it."""

    waiting: dict[str, float] = field(default_factory=dict)  # Object id -> time of the last poll.
    listed: dict[str, Object] = field(default_factory=dict)
    requested_at: float = float("-inf")  # Time at which the list was requested, or earlier.
    turn: Lock = field(default_factory=Lock)


_shared: WeakKeyDictionary[Any, dict[str, _Shared]] = WeakKeyDictionary()
_lock = Lock()


def poll(
    cloud: Any, collection: Collection, object_id: str, now: float, age: float
) -> Object | None:
    """Return the object as it was at most ``age`` seconds before ``now``; None if it is gone."""
    if not collection.detailed:
        return collection.find(cloud, object_id)
    with _lock:
        shared = _shared.setdefault(cloud, {}).setdefault(collection.path, _Shared())
        shared.waiting[object_id] = now
        if len(shared.waiting) >= _MANY:
            known = shared.waiting.items()
            shared.waiting = {key: last for key, last in known if last > now - _REMEMBERED}
        many = len(shared.waiting)
    if many >= _MANY:
        with shared.turn:
            if not now - age <= shared.requested_at <= now + age:
                _forget_old(now)
                shared.requested_at = now
                shared.listed = _listed(cloud, collection, min(2 * many, _MOST))
            found = shared.listed.get(object_id)
        if found is not None:
            # The object may be missing because the list is limited, so request it before reporting
            # it as gone.
            return found
    return collection.find(cloud, object_id)


def _forget_old(now: float) -> None:
    """Drop lists that were not used for 10 seconds."""
    with _lock:
        for kinds in _shared.values():
            for shared in kinds.values():
                if shared.requested_at < now - _REMEMBERED:
                    shared.listed = {}


def _listed(cloud: Any, collection: Collection, most: int) -> dict[str, Object]:
    """Return the newest objects by id; an empty map if the list fails."""
    try:
        answer = collection.ask(cloud, "GET", collection.detailed, params={"limit": most})
    except CloudError:
        return {}
    return {item[collection.id_field]: item for item in answer.get(collection.plural) or []}
