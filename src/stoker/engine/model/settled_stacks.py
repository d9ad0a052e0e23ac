"""A cache of settled stacks: nested stacks that an update need not touch.

A finding holds until an engine drives the stack, or a stack nested in it. It is made from stored
rows, so nothing depends on the cache: a finding that was dropped is made again.
"""

from __future__ import annotations

from collections.abc import Mapping

from cachetools import LRUCache
from msgspec import Struct, field

from stoker.engine.model.records import StackState, TreeState

MAX_FINDINGS = 50_000  # about 20 MiB


class Finding(Struct, frozen=True):
    """The result of a check of one stack in one state."""

    state: StackState
    is_settled: bool  # its own input, given again, would change nothing
    nested: Mapping[str, StackState] = field(default_factory=dict)  # states seen, by stack id

    def holds(self, stack_id: str, tree: TreeState) -> bool:
        """Return True if no engine has driven the stack or its nested stacks since."""
        now = {id_: tree.state_of(id_) for id_ in self.nested}
        return self.state == tree.state_of(stack_id) and now == self.nested


class SettledStacks:
    """At most ``max_findings`` of each kind; the least recently used ones are dropped."""

    def __init__(self, max_findings: int = MAX_FINDINGS) -> None:
        self._findings: LRUCache[str, Finding] = LRUCache(max_findings)
        self._shown: LRUCache[str, StackState] = LRUCache(max_findings)

    def finding(self, stack_id: str, tree: TreeState) -> Finding | None:
        """Return the finding about a stack, if it still holds."""
        found = self._findings.get(stack_id)
        return found if found is not None and found.holds(stack_id, tree) else None

    def keep(self, stack_id: str, finding: Finding) -> None:
        """Keep a finding in place of an earlier one."""
        self._findings[stack_id] = finding

    def is_shown(self, resource_id: str, state: StackState | None) -> bool:
        """Return True if a resource is known to show its nested stack in that state."""
        return state is not None and self._shown.get(resource_id) == state

    def note_shown(self, resource_id: str, state: StackState) -> None:
        """Note that the attributes of a resource are those of its nested stack in that state."""
        self._shown[resource_id] = state
