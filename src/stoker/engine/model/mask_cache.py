"""A cache of masks over hidden parameters, by input, and the inputs of the stacks driven here.

The events of a nested stack mask the hidden parameters of all stacks above it. A tree may have
thousands of nested stacks. So the mask of an input is computed once, and the row of a stack that
this process drives is not read for each stack nested in it.

Invariant: an input never changes, so its mask is never outdated. The inputs of a driven stack are
complete, because no other process can change a stack under its fencing token. The cache only saves
time: a missing mask is computed again, and the row of a stack that is not driven here is read.
Tested by tests/operations/test_secrets_of_rows.py.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from weakref import WeakValueDictionary

from cachetools import LRUCache
from msgspec import Struct

from stoker.engine.model.records import Stack
from stoker.kernel.logs.masking import Masking

MAX_BYTES = 16 * 1024 * 1024
_ENTRY_BYTES = 500  # of a mask without its secrets


class StackInputs(Struct, frozen=True):
    """A stack, and the ids of the inputs from which values in its rows may be."""

    stack: Stack
    input_ids: frozenset[str]


class MaskCache:
    """At most ``max_bytes`` of masks; the least recently used one is dropped first."""

    def __init__(self, max_bytes: int = MAX_BYTES) -> None:
        self._masks: LRUCache[str, Masking] = LRUCache(
            max_bytes, lambda masking: _ENTRY_BYTES + masking.size
        )
        self._locks: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()
        # By stack; None until its driver has prepared an operation.
        self._driven: dict[str, StackInputs | None] = {}

    def get(self, input_id: str) -> Masking | None:
        """Return the mask of an input, if it is cached."""
        return self._masks.get(input_id)

    def put(self, input_id: str, masking: Masking) -> None:
        """Cache the mask of an input, unless it is larger than the whole cache."""
        if _ENTRY_BYTES + masking.size <= self._masks.maxsize:
            self._masks[input_id] = masking

    def lock(self, input_id: str) -> asyncio.Lock:
        """Return the lock under which one task computes the mask of an input for all others."""
        return self._locks.setdefault(input_id, asyncio.Lock())

    def drive(self, stack_id: str) -> None:
        """Note a stack that is driven here from now on. Its inputs are added later."""
        self._driven[stack_id] = None

    def note(self, stack: Stack, unsettled: Iterable[str] = ()) -> StackInputs:
        """Return the inputs of a stack; if it is driven here, cache them beside its earlier ones.

        They are the present input, the last one that the stack reached, and ``unsettled`` ones.
        """
        input_ids = (stack.input_id, stack.good_input_id, *unsettled)
        found = StackInputs(stack, frozenset(filter(None, input_ids)))
        if stack.id in self._driven:
            # A failed update left values in rows that the rollback has not reached yet.
            if (before := self._driven[stack.id]) is not None:
                found = StackInputs(stack, before.input_ids | found.input_ids)
            self._driven[stack.id] = found
        return found

    def release(self, stack_id: str) -> None:
        """Forget a stack that is no longer driven here."""
        self._driven.pop(stack_id, None)

    def driven(self, stack_id: str) -> StackInputs | None:
        """Return the inputs of a stack since its driver started, if they are known here."""
        return self._driven.get(stack_id)
