"""Masks the secrets that the rows of a stack may have.

Takes a stack. Produces a mask over the hidden parameters of its present input, of the last one that
it reached, and of all inputs since: after failed updates and rollbacks, rows may have values of any
of them. A process without their evaluations in memory evaluates them, unless no template in them
can have a hidden parameter.

The mask of a nested stack also has the hidden parameters of all stacks above it. Their values are
in its generated template, or in parameters that its template does not hide.

Called before events are written, also by deletes, which evaluate nothing else.
Tested by tests/operations/test_secrets_of_rows.py.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial

from stoker.engine.model.interfaces import Ports
from stoker.engine.model.mask_cache import StackInputs
from stoker.engine.model.records import Action, Input, Resource, Stack, Status
from stoker.engine.model.secrets import (
    masking_of,
    may_have_own_secrets,
    may_have_secrets,
    own_masking_of,
)
from stoker.engine.planning.evaluations import evaluation_at
from stoker.kernel.diagnostics import DiagnosticError
from stoker.kernel.errors import RequestError
from stoker.kernel.logs.masking import Masking
from stoker.template.evaluate.evaluation import Evaluation

# Actions that end with all rows at the present input, if they succeed.
_SETTLING = (Action.CREATE, Action.ADOPT, Action.UPDATE, Action.ROLLBACK)


async def masking_at(
    ports: Ports, stack: Stack, rows: Iterable[Resource], but: str | None = None
) -> Masking:
    """Return the mask over rows, without the secrets of an input that the caller evaluates."""
    found = await _masking_above(ports, stack)
    inputs, mask = await _inputs_of(ports, stack), partial(masking_of, rows=tuple(rows))
    for input_id in sorted(inputs.input_ids - {but}):
        found |= await _masking_of_input(ports, stack, input_id, may_have_secrets, mask)
    return found


async def _inputs_of(ports: Ports, stack: Stack) -> StackInputs:
    """Return the inputs from which values in the rows of a stack may be."""
    is_first = stack.action in (Action.CREATE, Action.ADOPT) and stack.good_input_id is None
    is_complete = stack.status is Status.COMPLETE and stack.input_id == stack.good_input_id
    is_settled = is_complete and stack.action in _SETTLING
    has_one = is_settled or (is_first and stack.status is Status.IN_PROGRESS)
    unsettled = () if has_one else await ports.store.unsettled_inputs(stack.id)
    return ports.evaluations.masks.note(stack, unsettled)


async def _masking_above(ports: Ports, stack: Stack) -> Masking:
    """Return the mask over the hidden parameters of all stacks above; empty for a root stack."""
    found, above = Masking(), stack.parent_id
    while above is not None:
        inputs = ports.evaluations.masks.driven(above)
        if inputs is None:
            parent = await ports.store.stack(above)
            if parent is None:
                break
            inputs = await _inputs_of(ports, parent)
        for input_id in sorted(inputs.input_ids):
            found |= await _own_masking(ports, inputs.stack, input_id)
        above = inputs.stack.parent_id
    return found


async def _own_masking(ports: Ports, stack: Stack, input_id: str) -> Masking:
    """Return the mask over the hidden parameters of a stack's own template, computed once."""
    masks = ports.evaluations.masks
    found = masks.get(input_id)
    if found is None:
        async with masks.lock(input_id):
            found = masks.get(input_id)
            if found is None:
                found = await _masking_of_input(
                    ports, stack, input_id, may_have_own_secrets, own_masking_of
                )
                masks.put(input_id, found)
    return found


async def _masking_of_input(
    ports: Ports,
    stack: Stack,
    input_id: str,
    may_have: Callable[[Input], bool],
    mask: Callable[[Evaluation], Masking],
) -> Masking:
    evaluation, compute = ports.evaluations.get(input_id), ports.workers.compute
    try:
        if evaluation is None:
            recorded = await ports.store.input(input_id)
            if not await compute(partial(may_have, recorded)):
                return Masking()
            evaluation = await evaluation_at(ports, stack, input_id, recorded)
    except (DiagnosticError, RequestError):
        return Masking()  # It is damaged, or was dropped since.
    return await compute(partial(mask, evaluation))
