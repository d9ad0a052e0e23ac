"""A cache of the resource rows of stacks that no engine drives at present.

A driver leaves its rows here when it ends, and the next driver or preview of this process need not
read and decrypt them again. The cache only saves time: rows that were dropped are read again.

Invariant: the rows of a stack change only under its fencing token, or together with it. So rows
that were complete at one fencing token are the stored rows as long as the stack has this token.
Tested by tests/operations/test_row_cache.py and the simulation.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from threading import Lock
from weakref import ReferenceType

from cachetools import LRUCache
from msgspec import Struct

from stoker.engine.model.records import Resource, Stack
from stoker.kernel.json.tree import estimated_bytes
from stoker.template.evaluate.evaluation import Evaluation

MAX_BYTES = 64 * 1024 * 1024
_ROW_BYTES = 1500  # of a row without its values


class Unchanged(Struct, frozen=True):
    """Resources that the last plan of a stack left as they are, and the reasons of that decision.

    A resource stays unchanged as long as its row, its analysis, its dependencies, and the rows of
    these are the same objects.
    """

    rows: Mapping[str, Resource]  # by name
    # Weak, since the cache of evaluations bounds their number.
    evaluation: ReferenceType[Evaluation]


class SettledRows(Struct, frozen=True):
    """All rows of a stack at one fencing token."""

    fencing_token: int
    rows: tuple[Resource, ...]
    unchanged: Unchanged | None
    sizes: Mapping[str, int]  # estimated bytes by row id

    @property
    def size(self) -> int:
        """Return the estimated bytes of the rows."""
        return sum(self.sizes.values()) + _ROW_BYTES


class RowCache:
    """At most ``max_bytes`` in all; the rows of the least recently used stack are dropped first."""

    def __init__(self, max_bytes: int = MAX_BYTES) -> None:
        self._entries: LRUCache[str, SettledRows] = LRUCache(max_bytes, lambda entry: entry.size)
        self._lock = Lock()  # rows of large stacks are cached on another thread
        self._used: set[str] = set()  # stack ids since the last `forget_unused`

    def keep(
        self,
        stack: Stack,
        rows: Iterable[Resource],
        unchanged: Unchanged | None,
        earlier: SettledRows | None,
    ) -> None:
        """Cache the rows of a stack as its owner has committed them last, in the store's order.

        ``earlier`` are the rows that its owner started with; the size of those that are the same
        objects is known.
        """
        found = tuple(sorted(rows, key=lambda row: (row.created_at, row.id)))
        if any(row.unreadable for row in found):
            return
        before = {} if earlier is None else {row.id: row for row in earlier.rows}
        known = {} if earlier is None else earlier.sizes
        sizes = {
            row.id: known[row.id] if before.get(row.id) is row else _bytes_of(row) for row in found
        }
        entry = SettledRows(stack.fencing_token, found, unchanged, sizes)
        with self._lock:
            if entry.size <= self._entries.maxsize:
                self._entries[stack.id] = entry
                self._used.add(stack.id)

    def at(self, stack_id: str, fencing_token: int | None) -> SettledRows | None:
        """Return the rows of a stack at a fencing token, if they are cached."""
        with self._lock:
            found = self._entries.get(stack_id)
            self._used.add(stack_id)
        return found if found is not None and found.fencing_token == fencing_token else None

    def forget_unused(self) -> None:
        """Drop rows that were not used since the last call."""
        with self._lock:
            for stack_id in set(self._entries) - self._used:
                del self._entries[stack_id]
            self._used.clear()

    def drop(self, stack_id: str) -> None:
        """Forget the rows of a stack, which an engine is about to change."""
        with self._lock:
            self._entries.pop(stack_id, None)


def _bytes_of(row: Resource) -> int:
    values = [row.properties, row.metadata, row.attributes, row.data, row.progress]
    return _ROW_BYTES + estimated_bytes(values)
