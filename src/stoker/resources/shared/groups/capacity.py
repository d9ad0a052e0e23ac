"""Computes the size of a scaling group after an adjustment."""

from __future__ import annotations

import math

from stoker.schema.resource_type import Adjustment

CHANGE = "change_in_capacity"
EXACT = "exact_capacity"
PERCENT = "percent_change_in_capacity"


def adjusted(size: int, adjustment: Adjustment) -> int:
    """Return the size after an adjustment, before the bounds are applied.

    A change in percent is rounded towards zero, but changes at least one member.
    """
    if adjustment.kind == EXACT:
        return math.trunc(adjustment.amount)
    if adjustment.kind == CHANGE:
        return size + math.trunc(adjustment.amount)
    change = size * adjustment.amount / 100
    members = max(math.floor(abs(change)), 1, adjustment.least) if change else 0
    return size + int(math.copysign(members, change))


def bounded(size: int, smallest: int, largest: int) -> int:
    """Return the size, limited to the bounds."""
    return max(smallest, min(size, largest))
