"""Finds nested stacks that an update need not touch, since nothing in them would change.

Most nested stacks are given the same input as before, or one that differs in files and defaults of
parameters which they do not use. Such a stack, and the stacks nested in it,
are evaluated and planned here from their stored rows. If nothing would change, the parent records
no operation on it: no engine drives or writes it, and it keeps its status. The finding is kept
until an engine drives one of these stacks, so the next update reads only their states.

Nothing here writes. A stack is never settled if an operation on it would read live objects: those
that its outputs show, or all of them, as an update that converges does. Nor is it if its resources
or outputs read the time, or chance.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from functools import partial

from stoker.engine.execution.nested.attributes import nested_attributes, with_shown
from stoker.engine.execution.nested.desired import foreseen
from stoker.engine.execution.nested.ends import NestedFailedError
from stoker.engine.execution.nested.idle_plan import is_at_input, plans_nothing, recorded_definition
from stoker.engine.execution.nested.inputs import have_same_effect
from stoker.engine.execution.nested.settled_verification import preview_agrees
from stoker.engine.execution.session import Session, StackRows
from stoker.engine.model.interfaces import Ports
from stoker.engine.model.records import (
    Action,
    Input,
    Operation,
    Resource,
    Stack,
    StackState,
    TreeState,
    is_nested,
)
from stoker.engine.model.settled_stacks import Finding
from stoker.engine.planning.evaluations import evaluation_at
from stoker.kernel.diagnostics import DiagnosticError
from stoker.kernel.errors import RequestError
from stoker.template.definition import Definition
from stoker.template.evaluate.evaluation import Evaluation, may_change

_NOT_KNOWN = (DiagnosticError, NestedFailedError, RequestError)


async def is_settled(
    session: Session,
    operation: Operation,
    row: Resource,
    definition: Definition,
    attributes: frozenset[str],
) -> bool:
    """Return True if an update would change neither the nested stack of a row nor its attributes.

    ``attributes`` contains those that the template refers to.
    """
    reads_live = operation.converges or operation.restores
    if reads_live or operation.action not in (Action.UPDATE, Action.ROLLBACK):
        return False
    try:
        is_found = await _is_found_settled(session, row, definition, attributes)
    except _NOT_KNOWN:
        return False  # The operation on the nested stack reports it.
    return is_found and await preview_agrees(session, row)


async def _is_found_settled(
    session: Session, row: Resource, definition: Definition, attributes: frozenset[str]
) -> bool:
    own, ports = await session.input(), session.ports
    evaluation = await evaluation_at(ports, session.stack, own.id, own)
    child = await _same_child(session, row, definition, attributes, own, evaluation)
    if child is None:
        return False
    tree = await ports.store.tree(child.id)
    nested = _NestedTree(ports, tree)
    if not await nested.is_settled(child.id):
        return False
    if not await nested.is_shown(session, row, child):
        return False
    # The rows may be newer than the states that were read before them.
    return not nested.has_read_rows or await ports.store.tree(child.id) == tree


async def _same_child(
    stack_rows: StackRows,
    row: Resource,
    definition: Definition,
    attributes: frozenset[str],
    own: Input,
    evaluation: Evaluation,
) -> Stack | None:
    """Return the nested stack of a row if its input would have the same effect, else None.

    The effect is the same if the inputs differ only in files and defaults of parameters that
    neither the nested stack nor one below it uses. ``own`` is the input of the parent, with its
    ``evaluation``. Raises an error of _NOT_KNOWN.
    """
    desired = await foreseen(stack_rows, row, definition, attributes, own)
    if desired is None:
        return None
    child, stack_input, nested = desired
    if nested.data is not None and dict(nested.data) != dict(row.data):
        return None
    if not is_at_input(child) or child.parent_resource != row.name:
        return None
    ports = stack_rows.ports
    before = await ports.store.input(child.input_id)
    same = partial(have_same_effect, before, stack_input, evaluation, row.name)
    return child if await ports.workers.compute(same) else None


class _NestedTree:
    """Checks a nested stack and its own nested stacks, in the states of one moment."""

    def __init__(self, ports: Ports, tree: TreeState) -> None:
        self._ports = ports
        self._tree = tree
        self.has_read_rows = False

    async def is_settled(self, stack_id: str) -> bool:
        """Return True if nothing would change in the stack or below it."""
        settled = self._ports.evaluations.settled
        finding = settled.finding(stack_id, self._tree)
        if finding is None:
            state = self._tree.state_of(stack_id)
            if state is None:
                return False
            finding = await self._find(stack_id, state)
            settled.keep(stack_id, finding)
        if not finding.is_settled:
            return False
        return all(await asyncio.gather(*map(self.is_settled, finding.nested)))

    async def is_shown(self, above: StackRows, row: Resource, child: Stack) -> bool:
        """Return True if the row has the attributes that its nested stack shows."""
        state, settled = self._tree.state_of(child.id), self._ports.evaluations.settled
        if settled.is_shown(row.id, state):
            return True
        self.has_read_rows = True
        shown = await nested_attributes(above, child, above.type_of(row))
        if state is None or with_shown(row, shown, child.address.arn).attributes != row.attributes:
            return False
        if may_change(await evaluation_at(self._ports, child, child.input_id)):
            return False  # Its outputs may be others in the next update.
        settled.note_shown(row.id, state)
        return True

    async def _find(self, stack_id: str, state: StackState) -> Finding:
        """Check one stack; those nested in it only for the input and attributes of their rows."""
        self.has_read_rows = True
        store, unsettled = self._ports.store, Finding(state, is_settled=False)
        stack = await store.stack(stack_id)
        if stack is None or not is_at_input(stack):
            return unsettled
        stack_rows = StackRows(self._ports, stack, await store.resources(stack_id))
        try:
            evaluation = await evaluation_at(self._ports, stack, stack.input_id)
            if not await plans_nothing(stack_rows, evaluation) or may_change(evaluation):
                return unsettled
            nested = await self._nested(stack_rows, evaluation)
        except _NOT_KNOWN:
            return unsettled
        return unsettled if nested is None else Finding(state, is_settled=True, nested=nested)

    async def _nested(
        self, stack_rows: StackRows, evaluation: Evaluation
    ) -> Mapping[str, StackState] | None:
        """Return the states of the nested stacks by id.

        Returns None if one of them would get another input, or if its row shows other attributes.
        """
        states = {}
        for row in filter(is_nested, stack_rows.rows.values()):
            own = await stack_rows.input()
            definition = await recorded_definition(stack_rows, evaluation, row.name)
            used = evaluation.attributes_used.get(row.name, frozenset())
            child = await _same_child(stack_rows, row, definition, used, own, evaluation)
            state = None if child is None else self._tree.state_of(child.id)
            if child is None or state is None or not await self.is_shown(stack_rows, row, child):
                return None
            states[child.id] = state
        return states
