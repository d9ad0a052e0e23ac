"""Splits the members of a group into batches for creates and rolling updates.

The engine creates or changes the members of one batch at a time, with a pause in between. Groups
that may grow use :class:`Rolling`: it adds members first, so that enough stay in service. Groups
with a fixed number of members use :func:`in_batches`.

Tested by tests/groups and tests/scaling.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from msgspec import Struct

from stoker.resources.base import declare
from stoker.schema.constraints import Range
from stoker.schema.properties import Property

Batches = Sequence[Sequence[str]]

# Entries of the policy for new members.
BATCHED: Mapping[str, Property] = {
    "max_batch_size": declare.at_least(1, "Maximum size of a batch.", default=1),
    "pause_time": declare.number(
        "Seconds between batches.", default=0, constraints=(Range(min=0),)
    ),
}
# Entries of the policy for changed members.
ROLLING: Mapping[str, Property] = {
    "min_in_service": declare.at_least(
        0, "Minimum number of members in service during the update.", default=0
    ),
    **BATCHED,
}


class Rolling(Struct, frozen=True):
    """Batches of an update during which the group may grow."""

    min_in_service: int = 0
    max_batch_size: int = 1
    pause_seconds: float = 0.0

    @staticmethod
    def of(policy: Mapping[str, Any]) -> Rolling:
        """Return the batches for a policy with the entries of :data:`ROLLING`."""
        return Rolling(
            int(policy.get("min_in_service") or 0),
            int(policy.get("max_batch_size") or 1),
            float(policy.get("pause_time") or 0),
        )

    def new_members(self, healthy: int, size: int) -> int:
        """Return the number of members to create before the first of ``healthy`` members changes.

        With them, ``min_in_service`` members (at most ``size``) are in service while a batch
        changes. As many old members are deleted when the update is complete.
        """
        desired = min(self.min_in_service, size) + self._batch_size(size)
        return min(size, max(0, desired - healthy))

    def batches(self, new: Sequence[str], old: Sequence[str]) -> Batches:
        """Split the members into batches, the new ones first."""
        names = [*new, *old]
        return _cut(names, self._batch_size(len(names)))

    def _batch_size(self, size: int) -> int:
        return max(1, min(self.max_batch_size, size))


def in_batches(names: Sequence[str], policy: Mapping[str, Any]) -> Batches:
    """Split the names into batches, for a group that cannot grow.

    A batch has at least one member, and at most as many as may be out of service.
    """
    spare = len(names) - int(policy.get("min_in_service") or 0)
    size = max(1, min(int(policy.get("max_batch_size") or 1), spare))
    return _cut(names, size)


def _cut(names: Sequence[str], size: int) -> Batches:
    return [names[start : start + size] for start in range(0, len(names), size)]
