"""Nested stacks as a refactor leaves them: their place in the tree, their input and their row."""

from __future__ import annotations

from msgspec import Struct

from stoker.engine.execution.nested.attributes import shown_by, with_shown
from stoker.engine.execution.nested.desired import desired_nested, input_from, nesting_call
from stoker.engine.execution.nested.ends import NestedFailedError
from stoker.engine.execution.nested.inputs import equal_inputs
from stoker.engine.execution.nested.nesting import nested_stack
from stoker.engine.execution.session import StackRows
from stoker.engine.model.records import Action, Input, Resource, Stack, Status
from stoker.engine.planning.decision import row_columns
from stoker.engine.planning.evaluations import Documents, evaluation_of
from stoker.engine.planning.facts import RecordedFacts
from stoker.engine.service.refactors.remaining import fault
from stoker.kernel.diagnostics import DiagnosticError
from stoker.kernel.values import replace
from stoker.schema.resource_type import Nested, ScalableType
from stoker.template.definition import Definition
from stoker.template.evaluate.evaluation import Evaluation

_PLACE = ("parent_id", "parent_resource", "parent_resource_id", "root_id", "depth")


class NestedTarget(Struct, frozen=True):
    """A nested stack of a new tree."""

    row: Resource  # that represents it, as it was or as new
    stack: Stack
    is_new: bool
    input: Input
    evaluation: Evaluation
    nested: Nested
    is_unchanged: bool  # it has the same parent and the same input as before


async def nested_target(
    stack_rows: StackRows,
    row: Resource | None,
    child: Stack | None,
    definition: Definition,
    used: frozenset[str],
    own: Input,
) -> NestedTarget:
    """Return the nested stack that a definition describes.

    ``row`` and ``child`` are those of the present stack, ``used`` the attributes of it that the
    template refers to, and ``own`` is the new input of its parent. Raises DiagnosticError.
    """
    ports = stack_rows.ports
    row = row or _new_row(stack_rows, definition)
    child_id = ports.ids.uuid() if child is None else child.id
    stack = nested_stack(stack_rows, row, child_id, "")
    arn = (child or stack).address.arn
    try:
        nested = await desired_nested(stack_rows, row, definition, used, child, arn)
        child_input = await input_from(stack_rows, own, child_id, definition, nested)
    except NestedFailedError as failed:
        raise DiagnosticError([fault(row.name, str(failed))]) from failed
    is_unchanged = False
    if child is not None:
        stack = replace(child, **{name: getattr(stack, name) for name in _PLACE})
        before = await ports.store.input(child.input_id)
        if await ports.workers.compute(lambda: equal_inputs(before, child_input)):
            child_input, is_unchanged = before, stack == child

    def evaluate() -> Evaluation:
        inner = evaluation_of(ports, stack, child_input, Documents.of(child_input))
        _ = inner.attributes_used  # compute it on this thread, not later on the event loop
        return inner

    evaluation = await ports.workers.compute(evaluate)
    return NestedTarget(row, stack, child is None, child_input, evaluation, nested, is_unchanged)


async def row_of_nested(
    stack_rows: StackRows, target: NestedTarget, definition: Definition, inside: StackRows
) -> Resource:
    """Return the row of a nested stack with the rows ``inside``, in the parent ``stack_rows``."""
    child_id, type_, data = target.stack.id, definition.type, target.nested.data
    row = replace(
        target.row,
        nested_id=child_id,
        physical_id=child_id,
        data=target.row.data if data is None else data,
        **row_columns(definition, stack_rows.current),
    )
    if target.is_new and isinstance(type_, ScalableType):
        row = replace(row, data=type_.settled(nesting_call(stack_rows, row), None))
    current, reference_of = inside.current, stack_rows.reference_of
    facts, known = RecordedFacts(current, reference_of), stack_rows.type_of(row)
    shown = await stack_rows.ports.workers.compute(
        lambda: shown_by(target.evaluation.outputs(facts), current, reference_of, known)
    )
    return with_shown(row, shown, target.stack.address.arn)


def _new_row(stack_rows: StackRows, definition: Definition) -> Resource:
    """Return the row of a resource with a new nested stack."""
    ids, now = stack_rows.ports.ids, stack_rows.ports.clock.now()
    return Resource(
        id=ids.uuid(),
        stack_id=stack_rows.stack.id,
        name=definition.name,
        token=ids.token(),
        created_at=now,
        updated_at=now,
        action=Action.CREATE,
        status=Status.COMPLETE,
        reason="state changed",
        **row_columns(definition, stack_rows.current),
    )
