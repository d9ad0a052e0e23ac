"""All rules of order, in one place. ``docs/develop/ordering.md`` explains each and names its test.

An operation has two phases. First every wanted resource is *applied*, after those that it needs.
Only when all of them are there, the rows that must go are *removed*, dependents before what they
were built on. So nothing is given up before its replacement exists, a failure in the first phase
leaves everything in place that a rollback wants back, and a plan can have no cycle: the first
phase follows the template's graph, the second what was recorded when the rows were built.

An operation that does one thing to each resource follows what was recorded as well.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import pairwise

from stoker.engine.model.kinds import Batches
from stoker.engine.model.plans import PAUSE
from stoker.engine.model.records import Resource


def applied_dependencies(
    applied: Mapping[str, frozenset[str]], batches: Batches
) -> dict[str, frozenset[str]]:
    """Needs-first, batch after batch.

    ``applied`` maps the names to be applied to what their definitions need. Returns name -> what
    comes first, among the names that are applied at all, and among the pauses, which it returns
    too.
    """
    first = {
        name: frozenset(need for need in dependencies if need in applied)
        for name, dependencies in applied.items()
    }
    real = [[name for name in batch if name in applied] for batch in batches.names]
    for number, (before, after) in enumerate(pairwise(filter(None, real))):
        gate = frozenset(before)
        if batches.pause:
            key = f"{PAUSE}{number}"
            first[key], gate = gate, frozenset((key,))
        for name in after:
            first[name] |= gate
    return first


def recorded_dependencies(rows: Iterable[Resource]) -> dict[str, frozenset[str]]:
    """Row id -> ids of those among the rows that it was built on: they are removed after it, put
    to sleep after it, woken and looked at before it.
    """
    among = {row.id: row for row in rows}
    return {
        row.id: frozenset(id_ for id_ in row.requires if id_ in among and id_ != row.id)
        for row in among.values()
    }
