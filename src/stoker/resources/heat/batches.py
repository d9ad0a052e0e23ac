"""Batches: which members of a group are made or changed together, one batch after another."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

Batches = Sequence[Sequence[str]]


def in_batches(names: Sequence[str], policy: Mapping[str, Any]) -> Batches:
    """The names in batches, as a policy wants them.

    A batch has one member at least, else no more than may be out of service.
    """
    spare = len(names) - int(policy.get("min_in_service") or 0)
    size = max(1, min(int(policy.get("max_batch_size") or 1), spare))
    return [names[start : start + size] for start in range(0, len(names), size)]
