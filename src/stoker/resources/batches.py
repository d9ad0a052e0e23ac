"""Batches: which members of a group are created or changed together."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from stoker.resources import declare
from stoker.schema.constraints import Range
from stoker.schema.properties import Property

Batches = Sequence[Sequence[str]]

BATCHED: Mapping[str, Property] = {
    "max_batch_size": declare.at_least(1, "Maximum size of a batch.", default=1),
    "pause_time": declare.number(
        "Seconds between batches.", default=0, constraints=(Range(min=0),)
    ),
}
"""The entries of a policy for new members."""
ROLLING: Mapping[str, Property] = {
    "min_in_service": declare.at_least(
        0, "Minimum number of members in service during the update.", default=0
    ),
    **BATCHED,
}
"""The entries of a policy for changed members."""


def in_batches(names: Sequence[str], policy: Mapping[str, Any]) -> Batches:
    """The names in batches according to a policy.

    A batch has at least one member, and no more than may be out of service.
    """
    spare = len(names) - int(policy.get("min_in_service") or 0)
    size = max(1, min(int(policy.get("max_batch_size") or 1), spare))
    return [names[start : start + size] for start in range(0, len(names), size)]
