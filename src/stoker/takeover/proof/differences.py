"""Compares an answer of Heat with the one of Stoker, except for named differences.

In: two JSON bodies. Out: every difference with its path, and the name of the rule that permits it,
if there is one. :data:`NAMED` lists these rules; ``docs/operate/takeover.md`` explains each.

Tested by tests/takeover/test_differences.py.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from msgspec import Struct

from stoker.takeover.records.states import INTERRUPTED

Path = tuple[str | int, ...]

NAMED: Mapping[str, str] = {
    "order": (
        "Heat promises no order for resources, outputs, required_by, and for software configs and"
        " deployments of one second; they are compared by their names."
    ),
    "additions": (
        "Stoker adds the project to stacks in lists, and notes to attributes and outputs that it"
        " could not read from the cloud."
    ),
    "attributes": (
        "Heat 27 shows the object of a resource as its service does; Stoker shows the declared"
        " attributes, and the object as the attribute show; some of them are documented as text."
        " Attributes of groups are null in Heat unless the request names them. Attributes that both"
        " show are equal."
    ),
    "cooldown": (
        "Heat keeps the cooldown of scaling groups and policies in their metadata; Stoker keeps it"
        " in the data of the group."
    ),
    "snapshot-credentials": (
        "Heat shows users, keys and signed URLs in the resource_data of snapshots; Stoker keeps"
        " them, and does not show them."
    ),
    "registry": (
        "Heat lists the files of nested templates in the registry of the root stack's environment,"
        " and passes them on; Stoker lists them in each stack that uses them."
    ),
    "link-id": (
        "The id of a floating IP association is a number of Heat's database; here it names the two"
        " objects."
    ),
    "chain": (
        "Heat orders the members of a concurrent resource chain, and shows that in required_by;"
        " Stoker does not order them."
    ),
    "interrupted": (
        "An operation that was in progress during the last pass has failed here. Repeat the pass"
        " when it has ended in Heat, or with `--wait`."
    ),
}

_ADDED = frozenset({"project", "attributes_note", "output_note"})
_COOLDOWN = frozenset({"cooldown", "cooldown_end", "scaling_in_progress"})
_CREDENTIALS = frozenset(
    {
        "access_key", "secret_key", "ec2_signed_url", "user_id", "password", "token", "endpoint",
        "heat_signal_url", "credential_id", "username", "access", "secret",
    }
)  # fmt: skip
# Keys that identify an entry of a list, the first that all entries have.
_KEYS = ("id", "output_key", "resource_name")
_ABSENT = object()
_RUNNING = "IN_PROGRESS"


class Difference(Struct, frozen=True):
    """A value that the two answers do not share."""

    path: Path
    heat: Any  # None if absent
    ours: Any
    name: str | None = None  # rule that permits it; None for a real difference

    @property
    def place(self) -> str:
        """Return the path as text."""
        return "/".join(map(str, self.path))


def differences(heat: Any, ours: Any, path: Path = ()) -> Iterator[Difference]:
    """Yield all differences between two bodies, named ones included."""
    if isinstance(heat, Mapping) and isinstance(ours, Mapping):
        for key in sorted(heat.keys() | ours.keys()):
            here = (*path, key)
            yield from _compared(heat.get(key, _ABSENT), ours.get(key, _ABSENT), here)
    elif isinstance(heat, list) and isinstance(ours, list):
        yield from _lists(heat, ours, path)
    elif heat != ours:
        yield Difference(path, heat, ours, _rule(path, heat, ours))


def _compared(heat: Any, ours: Any, path: Path) -> Iterator[Difference]:
    if heat is _ABSENT or ours is _ABSENT:
        named = _rule(path, heat, ours)
        one, other = (None if value is _ABSENT else value for value in (heat, ours))
        yield Difference(path, one, other, named)
        return
    yield from differences(heat, ours, path)


def _lists(heat: list[Any], ours: list[Any], path: Path) -> Iterator[Difference]:
    if heat == ours:
        return
    if path[-1] == "required_by":
        if sorted(heat) != sorted(ours):
            rule = "chain" if set(ours) < set(heat) else None
            yield Difference(path, heat, ours, rule)
        else:
            yield Difference(path, heat, ours, "order")
        return
    key = _key_of(heat, ours)
    if key is None:
        if len(heat) != len(ours):
            yield Difference(path, heat, ours, _rule(path, heat, ours))
            return
        for index, (one, other) in enumerate(zip(heat, ours, strict=True)):
            yield from differences(one, other, (*path, index))
        return
    theirs, own = _by_key(heat, key), _by_key(ours, key)
    if list(theirs) != list(own) and theirs.keys() == own.keys():
        ordered = path[-1] in ("stacks", "events")
        yield Difference(path, list(theirs), list(own), None if ordered else "order")
    for identity in dict.fromkeys([*theirs, *own]):
        here = (*path, str(identity[0]))
        yield from _compared(theirs.get(identity, _ABSENT), own.get(identity, _ABSENT), here)


def _key_of(heat: Sequence[Any], ours: Sequence[Any]) -> str | None:
    entries = [*heat, *ours]
    if not all(isinstance(entry, Mapping) for entry in entries):
        return None
    for key in _KEYS:
        if all(key in entry for entry in entries):
            distinct = [{_identity(entry, key) for entry in each} for each in (heat, ours)]
            if (len(distinct[0]), len(distinct[1])) == (len(heat), len(ours)):
                return key
    return None


def _identity(entry: Mapping[str, Any], key: str) -> tuple[Any, ...]:
    """Return the identity of an entry: resources of nested stacks share their names."""
    links = entry.get("links") or [{}]
    return entry[key], links[0].get("href")


def _by_key(entries: Sequence[Any], key: str) -> dict[tuple[Any, ...], Any]:
    return {_identity(entry, key): entry for entry in entries}


def _rule(path: Path, heat: Any, ours: Any) -> str | None:
    """Return the name of the rule that permits a difference, if there is one."""
    last = path[-1] if path else ""
    if heat is _ABSENT and last in _ADDED:
        return "additions"
    if "attributes" in path[:-1] and (_is_nothing(heat) or _is_nothing(ours)):
        return "attributes"
    if "attributes" in path[:-1] and isinstance(ours, str) and _text(heat) == ours:
        return "attributes"
    if "resource_registry" in path[:-1] and heat is _ABSENT and last == ours:
        return "registry"
    if last == "physical_resource_id" and str(heat).isdigit() and ":" in str(ours):
        return "link-id"
    if str(heat).endswith(_RUNNING) and ours == f"{str(heat).removesuffix(_RUNNING)}FAILED":
        return "interrupted"
    if str(last).endswith("status_reason") and ours == INTERRUPTED:
        return "interrupted"
    if "metadata" in path[:-1] and last in _COOLDOWN and ours is _ABSENT:
        return "cooldown"
    if "resource_data" in path[:-1] and last in _CREDENTIALS and ours is _ABSENT:
        return "snapshot-credentials"
    return None


def _text(value: Any) -> str:
    """Return a value as attributes of old types show it."""
    return json.dumps(value) if isinstance(value, dict | list) else str(value)


def _is_nothing(value: Any) -> bool:
    return value is _ABSENT or value is None
