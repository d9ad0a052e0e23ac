"""Bounds the bytes of all values in the resources of a stack.

References multiply values: twenty resources that refer to a text of eight megabytes hold 160. Each
evaluation is bounded by its budget, but a value that is known later has its own budget. So the
properties and attributes of a row are added up before they are stored. The database adds up the
values that the stack already has, and only when a session adds more than a little.

Many resources become ready in the same turn of the event loop. A count of large values takes tens
of milliseconds, so each one ends its turn, and the other counts wait.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from typing import Any

from stoker.engine.execution.session import Session
from stoker.engine.model.records import Resource
from stoker.kernel.diagnostics import DiagnosticError, refusal
from stoker.kernel.errors import LIMIT_EXCEEDED
from stoker.kernel.json.tree import estimated_bytes
from stoker.kernel.values import replace
from stoker.schema.resource_type import Done, Failed, Outcome, Wait

STACKS = 8  # limit of a tree of stacks, as a multiple of the limit of one stack
UNCHECKED = 16  # a session asks the database after each such fraction of the limit
_LARGE_BYTES = 1_000_000  # counting more ends the turn of the event loop


class ValueSizes:
    """The bytes that a session has added to the values of its stack."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._is_new = not session.rows
        self._had: dict[str, int] = {}  # bytes by row, before the session changed it
        # Last counted values of each row, with their bytes.
        self._parts: dict[str, Sequence[tuple[Mapping[str, Any], int]]] = {}
        self._added: dict[str, int] = {}  # added bytes by row
        self._total = 0  # sum of the added bytes
        self._before: int | None = None  # bytes of the stack when the database was asked
        self._others = 0  # bytes of the other stacks of its tree at that time
        self._was_large = False  # the last count
        # Held while the thread yields after a large count.
        self._large_count = asyncio.Lock()
        self._asked_at = 0  # added bytes at that time

    async def require_room(self, row: Resource) -> None:
        """Count the values of a row that is about to be stored.

        Raises DiagnosticError if the stack, or its tree of stacks, would exceed its limit.
        """
        if self._large_count.locked():
            async with self._large_count:
                pass
        if row.id not in self._had:
            known = self._session.rows.get(row.id)
            if known is not None and _is_same(row, known):
                return
            self._had[row.id] = 0 if known is None else self._size_of(known)
        added = self._size_of(row) - self._had[row.id]
        if self._was_large:
            self._was_large = False
            async with self._large_count:
                await asyncio.sleep(0)
        if not added and row.id not in self._added:
            return
        before = self._added.get(row.id)
        self._total += added - (before or 0)
        self._added[row.id] = added
        if added <= (before or 0):
            return
        limit = self._session.ports.limits.values_bytes_per_stack
        if self._total - self._asked_at > limit // UNCHECKED:
            self._asked_at = self._total
            await self._ask()
        together = (self._before or 0) + self._total
        if together > limit:
            self._refuse(row, before, f"this stack would have {together} bytes", limit)
        if self._others and self._others + together > STACKS * limit:
            whole = f"this stack and those around and in it would have {self._others + together}"
            self._refuse(row, before, f"{whole} bytes", STACKS * limit)

    async def _ask(self) -> None:
        """Ask the database for the bytes of the stack and of its tree.

        A new stack without others in its tree has none. A row that waits for the answer falls
        behind the rows of its commit.
        """
        stack, rows = self._session.stack, self._session.rows
        is_alone = stack.root_id is None and not any(row.nested_id for row in rows.values())
        if self._is_new and is_alone:
            return
        own, others = await self._session.ports.store.values_size(
            stack.root_id or stack.id, stack.id
        )
        if self._before is None:
            self._before = own
        self._others = others

    def _refuse(self, row: Resource, before: int | None, what: str, limit: int) -> None:
        # The row is not stored.
        self._total += (before or 0) - self._added[row.id]
        self._added[row.id] = before or 0
        raise refusal(
            "too-large",
            f"the properties and attributes of the resources of {what}, the limit is {limit}"
            " (max_values_size_per_stack)",
            ("resources", row.name),
            LIMIT_EXCEEDED,
            suggestion="refer to large values in fewer places, or keep them in the object store",
        )

    async def within(self, row: Resource, outcome: Done | Wait) -> Outcome:
        """Return the outcome of a call, or a failure if its attributes exceed the limit.

        The failure names the object, so that it can be removed.
        """
        if not outcome.attributes:
            return outcome
        try:
            attributes = {**row.attributes, **outcome.attributes}
            await self.require_room(replace(row, attributes=attributes))
        except DiagnosticError as error:
            return Failed(error.first.message, outcome.physical_id, data=outcome.data)
        return outcome

    def _size_of(self, row: Resource) -> int:
        """Estimate the bytes of the values in a row that users can fill.

        A row is counted several times during its creation, mostly with the same value objects. So
        values are counted again only if they are other objects.
        """
        before = self._parts.get(row.id, ())
        size, parts = 0, []
        for values in filter(None, (row.properties, row.attributes, row.metadata)):
            for part in before:
                if part[0] is values:
                    break
            else:
                part = values, estimated_bytes(values if type(values) is dict else dict(values))
                self._was_large |= part[1] > _LARGE_BYTES
            parts.append(part)
            size += part[1]
        self._parts[row.id] = parts
        return size


def _is_same(one: Resource, other: Resource) -> bool:
    """Return whether two states of a row have the same values."""
    return (
        one.properties is other.properties
        and one.attributes is other.attributes
        and one.metadata is other.metadata
    )
