"""Batches of members: which members wait for which, and the pauses between batches.

A batch is an order between members: those of one batch need those of the batch before it. A pause
is a member of its own, an ``OS::Heat::Delay`` that stands between two batches. It has a new name
in each rolling update, so that each of them pauses.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True, slots=True)
class Order:
    """What each member needs. Kept with the group, so that members stay as they are."""

    needs: Mapping[str, Sequence[str]] = field(default_factory=dict)
    pauses: Mapping[str, float] = field(default_factory=dict)
    """Seconds by name of the pause."""
    rounds: int = 0
    """Rolling updates so far; part of the names of pauses."""


def recorded(data: Mapping[str, Any]) -> Order:
    """The order that was kept."""
    return Order(data.get("needs") or {}, data.get("pauses") or {}, data.get("rounds") or 0)


def as_data(order: Order) -> dict[str, Any]:
    """The order as it is kept."""
    return {
        "needs": {name: list(needs) for name, needs in order.needs.items()},
        "pauses": dict(order.pauses),
        "rounds": order.rounds,
    }


def kept(order: Order, names: Sequence[str]) -> Order:
    """What is left of an order for these members."""
    left = {*names, *order.pauses}
    needs = {
        name: [need for need in order.needs[name] if need in left]
        for name in (*names, *order.pauses)
        if name in order.needs
    }
    return Order(needs, order.pauses, order.rounds)


def extended(order: Order, names: Sequence[str], policy: Mapping[str, Any] | None) -> Order:
    """An order in which new members come in batches; those that are known stay as they are."""
    order = kept(order, names)
    if policy is None:
        return order
    new = [name for name in names if name not in order.needs]
    added = _in_batches(new, _size(policy, len(new)), policy, order.rounds + 1)
    return Order({**order.needs, **added.needs}, {**order.pauses, **added.pauses}, order.rounds + 1)


def rolling(order: Order, names: Sequence[str], policy: Mapping[str, Any]) -> Order:
    """An order in which all members come in batches."""
    return _in_batches(names, _size(policy, len(names)), policy, order.rounds + 1)


def bodies(members: Mapping[str, Mapping[str, Any]], order: Order) -> dict[str, dict[str, Any]]:
    """The definitions of members and pauses, each with what it needs."""
    pauses = {
        name: {"type": "OS::Heat::Delay", "properties": {"min_wait": seconds}}
        for name, seconds in order.pauses.items()
    }
    found: dict[str, dict[str, Any]] = {}
    for name, body in {**members, **pauses}.items():
        needs = order.needs.get(name)
        found[name] = {**body, "depends_on": list(needs)} if needs else dict(body)
    return found


def _size(policy: Mapping[str, Any], members: int) -> int:
    """Members of one batch: at least one, else no more than may be out of service."""
    spare = members - int(policy.get("min_in_service") or 0)
    return max(1, min(int(policy.get("max_batch_size") or 1), spare))


def _in_batches(names: Sequence[str], size: int, policy: Mapping[str, Any], rounds: int) -> Order:
    needs: dict[str, list[str]] = {}
    pauses: dict[str, float] = {}
    seconds = float(policy.get("pause_time") or 0)
    before: list[str] = []
    for start in range(0, len(names), size):
        batch = list(names[start : start + size])
        if before and seconds:
            pause = f"pause-{rounds}-{start // size}"
            pauses[pause] = seconds
            needs[pause] = before
            before = [pause]
        needs.update((name, before) for name in batch)
        before = batch
    return Order(needs, pauses, rounds)
