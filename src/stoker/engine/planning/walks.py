"""Plans of walks: operations that do one thing to each resource and leave the template alone."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from stoker.engine.model.plans import (
    Change,
    Direction,
    Node,
    OnFailure,
    Phase,
    Plan,
    Reason,
    Step,
)
from stoker.engine.model.records import Action, Resource
from stoker.engine.planning.ordering import recorded_dependencies

WAYS: Mapping[Action, tuple[Direction, OnFailure]] = {
    Action.SUSPEND: (Direction.DEPENDENTS_FIRST, OnFailure.STOP),
    Action.RESUME: (Direction.DEPENDENCIES_FIRST, OnFailure.STOP),
    Action.CHECK: (Direction.DEPENDENCIES_FIRST, OnFailure.GATHER),
    Action.SNAPSHOT: (Direction.DEPENDENCIES_FIRST, OnFailure.STOP),
}
"""How each walk follows the dependencies that were recorded, and what a failure does to it."""


def plan_of_walk(action: Action, rows: Sequence[Resource]) -> Plan:
    """One phase over the rows that stand for resources; not those whose delete has begun."""
    walked = {
        row.id: row.name
        for row in rows
        if row.replaced_by is None and row.action not in (Action.INIT, Action.DELETE)
    }
    dependencies = recorded_dependencies(row for row in rows if row.id in walked)
    nodes = tuple(
        Node(row_id, name, Change.VISIT, dependencies[row_id], Reason.ASKED, row_id=row_id)
        for row_id, name in walked.items()
    )
    direction, on_failure = WAYS[action]
    return Plan((Phase(Step.VISIT, direction, on_failure, nodes),))
