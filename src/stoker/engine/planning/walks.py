"""Plans of walks: operations that visit each resource once and keep the template.

Takes the action of a walk and the rows of the stack. Produces a plan with a single phase. The walk
operation calls it once and stores the plan. Tested by tests/operations/test_walks.py and
tests/operations/test_checks.py.
"""

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

_RULES: Mapping[Action, tuple[Direction, OnFailure]] = {
    Action.SUSPEND: (Direction.DEPENDENTS_FIRST, OnFailure.STOP),
    Action.RESUME: (Direction.DEPENDENCIES_FIRST, OnFailure.STOP),
    # A check reports all faults. Only what depends on a failed resource is left out.
    Action.CHECK: (Direction.DEPENDENCIES_FIRST, OnFailure.GATHER),
    Action.SNAPSHOT: (Direction.DEPENDENCIES_FIRST, OnFailure.STOP),
}


def plan_of_walk(action: Action, rows: Sequence[Resource]) -> Plan:
    """Return a plan of one phase over the current rows, without those that are being deleted."""
    visited = {
        row.id: row.name
        for row in rows
        if row.replaced_by is None and row.action not in (Action.INIT, Action.DELETE)
    }
    dependencies = recorded_dependencies(row for row in rows if row.id in visited)
    nodes = tuple(
        Node(row_id, name, Change.VISIT, dependencies[row_id], Reason.ASKED, row_id=row_id)
        for row_id, name in visited.items()
    )
    direction, on_failure = _RULES[action]
    return Plan((Phase(Step.VISIT, direction, on_failure, nodes),))
