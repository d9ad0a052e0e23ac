"""All rules of order. ``docs/develop/ordering.md`` explains each and names its test.

Takes the dependencies of the definitions to apply, or the recorded dependencies of rows. Produces a
graph: for each node the nodes before it. The planner stores it, execution walks it.

A change has two phases. First every desired resource is applied, after its dependencies. Then
obsolete rows are removed, dependents first. So nothing is given up before its replacement
exists, and a failure in the first phase leaves everything that a rollback needs. A plan can have no
cycle, because the first phase follows the template and the second the recorded rows.

Walks follow the recorded dependencies, too. Tested by tests/ordering.
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
    """Return the names to apply, each with the names and pauses before it.

    ``applied`` has the dependencies of each definition. Dependencies that are not applied are left
    out; a pause between two batches is a key of its own.
    """
    first = {
        name: frozenset(need for need in dependencies if need in applied)
        for name, dependencies in applied.items()
    }
    # Leave out members without a node. A pause between batches in which nothing changes would be
    # waste.
    changing = [[name for name in batch if name in applied] for batch in batches.names]
    for number, (before, after) in enumerate(pairwise(filter(None, changing))):
        gate = frozenset(before)
        if batches.pause:
            key = f"{PAUSE}{number}"
            first[key], gate = gate, frozenset((key,))
        for name in after:
            first[name] |= gate
    return first


def recorded_dependencies(rows: Iterable[Resource]) -> dict[str, frozenset[str]]:
    """Return the ids of rows, each with the ids of the rows that it depends on.

    These are removed and suspended after it, and resumed and checked before it.
    """
    # Use the recorded dependencies. The template of today may no longer contain the rows.
    among = {row.id: row for row in rows}
    return {
        row.id: frozenset(id_ for id_ in row.requires if id_ in among and id_ != row.id)
        for row in among.values()
    }
