"""The recorded trees of stacks that a refactor works on, and the paths of their resources.

A path starts with the name of a root stack and continues with names of resources, each in the
nested stack of the one before: ``shop/web`` or ``shop/group/0``.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Mapping

from msgspec import Struct

from stoker.engine.model.interfaces import Ports
from stoker.engine.model.records import Resource, Stack, is_nested

Path = tuple[str, ...]


class RecordedStack(Struct, frozen=True):
    """A stack with its rows and its nested stacks."""

    stack: Stack
    rows: tuple[Resource, ...]
    nested: Mapping[str, RecordedStack]  # by the id of the resource that represents it
    current: Mapping[str, Resource]  # by name, without those that wait for their removal

    def all(self) -> Iterator[RecordedStack]:
        """Yield this stack and all nested ones."""
        yield self
        for below in self.nested.values():
            yield from below.all()

    def find(self, path: Path) -> tuple[Stack, Resource] | None:
        """Return the resource at a path below this stack, and its stack; None if there is none."""
        row = self.current.get(path[0]) if path else None
        if row is None or len(path) == 1:
            return None if row is None else (self.stack, row)
        below = self.nested.get(row.id)
        return None if below is None else below.find(path[1:])


async def recorded(ports: Ports, stack: Stack) -> RecordedStack:
    """Read a stack with its nested stacks."""
    rows = tuple(await ports.store.resources(stack.id))

    async def below(row: Resource) -> tuple[str, RecordedStack] | None:
        assert row.nested_id is not None
        child = await ports.store.stack(row.nested_id)
        if child is None or child.deleted_at is not None:
            return None
        return row.id, await recorded(ports, child)

    nested = await asyncio.gather(*(below(row) for row in rows if is_nested(row)))
    current = {row.name: row for row in rows if row.replaced_by is None}
    return RecordedStack(stack, rows, dict(filter(None, nested)), current)


def path_of(text: str, only_root: str | None) -> Path:
    """Return the path that a user wrote. A leading slash means the root stack ``only_root``."""
    parts = tuple(text.split("/"))
    return (only_root, *parts[1:]) if parts[0] == "" and only_root is not None else parts
