"""Names the objects that a cloud's message mentions by id or address.

Clouds say "port 5a0c... is in use" or "address 10.0.0.4 is already allocated". If the object
belongs to the stack, or its resources use it, the user needs their names.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence

from stoker.engine.model.interfaces import Ports
from stoker.engine.model.records import Resource, Stack
from stoker.engine.model.views import Cause, MentionedObject
from stoker.kernel.json.tree import levels
from stoker.kernel.values import replace

_NAMES = re.compile(
    r"(?<!req-)\b[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}\b|\b(?:\d{1,3}\.){3}\d{1,3}\b(?!/)"
)
_MOST_NAMES = 20
_MOST_STACKS = 500

Place = tuple[tuple[str, ...], Resource]  # a resource with its path


async def with_mentioned_objects(
    ports: Ports, stack: Stack, causes: Sequence[Cause]
) -> tuple[Cause, ...]:
    """Return the causes with the stack's facts about the objects in their texts."""
    names = {name for cause in causes for name in _names_in(cause.text)}
    if not names:
        return tuple(causes)
    places = await _places(ports, stack)

    def named() -> tuple[Cause, ...]:
        # Sort the names, so that repeated requests return the same ones.
        found = _mentioned(places, set(sorted(names)[:_MOST_NAMES]))
        return tuple(replace(cause, objects=_objects(cause, found)) for cause in causes)

    return await ports.workers.compute(named)


async def _places(ports: Ports, stack: Stack) -> list[Place]:
    """Return the resources with objects in a stack and its nested stacks, with their paths."""
    found: list[Place] = []
    pending: list[tuple[tuple[str, ...], str]] = [((), stack.id)]
    for _ in range(_MOST_STACKS):
        if not pending:
            break
        above, identity = pending.pop()
        for row in await ports.store.resources(identity):
            path = (*above, row.name)
            if row.nested_id is not None:
                pending.append((path, row.nested_id))
            elif row.physical_id is not None:
                found.append((path, row))
    return found


def _mentioned(places: Iterable[Place], names: set[str]) -> Mapping[str, MentionedObject]:
    found = {name: MentionedObject(name) for name in names}
    for path, row in places:
        if row.physical_id in found:
            found[row.physical_id] = replace(found[row.physical_id], path=path)
        for name in names & _texts(row):
            users = found[name].used_by
            if path not in users:
                found[name] = replace(found[name], used_by=(*users, path))
    return found


def _texts(row: Resource) -> set[str]:
    values = (row.properties, row.attributes)
    return {
        item for value in values for level in levels(value) for item in level if type(item) is str
    }


def _objects(cause: Cause, found: Mapping[str, MentionedObject]) -> tuple[MentionedObject, ...]:
    """Return the objects that a cause names and the stack knows, except the resource's own."""
    objects = []
    for name in dict.fromkeys(_names_in(cause.text)):
        each = found.get(name)
        if each is None:
            continue
        users = tuple(path for path in each.used_by if path not in (cause.path, each.path))
        if users or each.path not in (None, cause.path):
            objects.append(replace(each, used_by=users))
    return tuple(objects)


def _names_in(text: str) -> Iterator[str]:
    return (match[0] for match in _NAMES.finditer(text))
