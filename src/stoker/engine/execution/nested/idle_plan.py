"""Checks whether a stored stack's own input, given again, would change any of its resources.

The answer is computed from stored rows by the planner, as if an operation on the stack started now.
Nested stacks are left out: the caller checks them one by one.
"""

from __future__ import annotations

from functools import partial

from stoker.engine.execution.observe.preparation import call_about, is_readable
from stoker.engine.execution.session import StackRows
from stoker.engine.model.plans import Change, Reason, Step, defined
from stoker.engine.model.records import Action, Resource, Stack, Status, is_nested
from stoker.engine.planning.facts import RecordedFacts
from stoker.engine.planning.planner import Planner
from stoker.template.definition import Definition
from stoker.template.evaluate.evaluation import Evaluation
from stoker.template.evaluate.static_analysis import RecordedReferences

_REACHED = (Action.CREATE, Action.ADOPT, Action.UPDATE, Action.ROLLBACK)
_GONE = (Action.INIT, Action.DELETE)


def is_at_input(stack: Stack) -> bool:
    """Return True if the last operation on the stack has brought it to its input."""
    return (
        stack.deleted_at is None
        and not stack.unreadable
        and stack.status is Status.COMPLETE
        and stack.action in _REACHED
        and stack.input_id == stack.good_input_id
    )


async def plans_nothing(stack_rows: StackRows, evaluation: Evaluation) -> bool:
    """Return True if the stack's own evaluation leaves all its rows as they are.

    Raises DiagnosticError for a change that is rejected.
    """
    if not all(map(_is_complete, stack_rows.rows.values())):
        return False
    return await stack_rows.ports.workers.compute(partial(_plans_nothing, stack_rows, evaluation))


async def recorded_definition(
    stack_rows: StackRows, evaluation: Evaluation, name: str
) -> Definition:
    """Return the definition of a resource with the facts of the stored rows."""
    facts = RecordedFacts(stack_rows.current, stack_rows.reference_of)
    return await stack_rows.ports.workers.compute(partial(defined, evaluation, name, facts))


def _is_complete(row: Resource) -> bool:
    """Return True if no action on the row failed, and its object need not be removed."""
    is_complete = row.status is Status.COMPLETE and row.action not in _GONE
    return is_complete and row.replaced_by is None and not row.unreadable


def _plans_nothing(stack_rows: StackRows, evaluation: Evaluation) -> bool:
    if stack_rows.current.keys() != set(evaluation.names) or _reads(stack_rows, evaluation):
        return False
    rows = tuple(stack_rows.rows.values())
    nested = {row.name: row for row in rows if is_nested(row)}
    planner = Planner(rows, stack_rows.reference_of, call_about(stack_rows), to_be=nested)
    return all(
        (node.change, node.reason) == (Change.UPDATE, Reason.NESTED) and node.name in nested
        for node in planner.plan(evaluation).nodes(Step.APPLY)
    )


def _reads(stack_rows: StackRows, evaluation: Evaluation) -> bool:
    """Return True if an operation would read attributes of live objects."""
    references = RecordedReferences()
    evaluation.outputs(references)
    used = evaluation.attributes_used
    return any(
        is_readable(stack_rows, row)
        for name, row in stack_rows.current.items()
        if name in references.attributes or used.get(name, frozenset()) - row.attributes.keys()
    )
