"""Polls objects in bulk: if many callers wait for objects, one list replaces a request for each.

A list is shared by all polls soon after it. Its state of an object may be that much older than the
poll, so it serves only waits for a state that stays: the end of a create, or of a delete.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from threading import Lock
from typing import Any
from weakref import WeakKeyDictionary

from stoker.clouds.collection import Collection, Object
from stoker.clouds.faults import CloudError

_MANY = 5  # for fewer waits, each object has its own request
# Seconds after a poll for which its caller counts as waiting; longer than any pause.
_REMEMBERED = 10.0
_MOST = 500  # limit on entries of a list: newest first, as callers wait for those


@dataclass(slots=True)
class _Shared:
    """Facts about one collection, as one user sees it."""

    waiting: dict[str, float] = field(default_factory=dict)  # time of the last poll of each object
    listed: dict[str, Object] = field(default_factory=dict)
    taken: float = float("-inf")  # the list was requested at this time, or later
    turn: Lock = field(default_factory=Lock)


_shared: WeakKeyDictionary[Any, dict[str, _Shared]] = WeakKeyDictionary()
_lock = Lock()


def look(
    cloud: Any, collection: Collection, object_id: str, now: float, age: float
) -> Object | None:
    """Return the object, as it is or was at most ``age`` seconds before ``now``; None when it is
    gone."""
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
            if not now - age <= shared.taken <= now + age:
                _forget_old(now)
                shared.taken = now
                shared.listed = _listed(cloud, collection, min(2 * many, _MOST))
            found = shared.listed.get(object_id)
        if found is not None:
            return found
    return collection.find(cloud, object_id)


def _forget_old(now: float) -> None:
    """Drop the lists that were not used lately."""
    with _lock:
        for kinds in _shared.values():
            for shared in kinds.values():
                if shared.taken < now - _REMEMBERED:
                    shared.listed = {}


def _listed(cloud: Any, collection: Collection, most: int) -> dict[str, Object]:
    """Return the newest objects by id; none if the list fails: then each one is requested."""
    try:
        answer = collection.ask(cloud, "GET", collection.detailed, params={"limit": most})
    except CloudError:
        return {}
    return {item[collection.id_field]: item for item in answer.get(collection.plural) or []}
