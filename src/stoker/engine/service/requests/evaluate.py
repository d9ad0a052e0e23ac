"""Evaluates requests: from a request to an input and its evaluation, fully checked.

Takes the request of a client and, for an update, the input of the stack. Returns an input that can
be stored, the evaluation of its template and, for a create, the row of the stack. Nothing is
written. Everything that can be known before the first call to a cloud is checked here: the
documents, quotas of resources, permissions on types, availability of services, and constraints on
values.

Called by operations and previews, so that a preview fails wherever the request would. Tested by
tests/operations/test_requests.py and test_fetching.py.
"""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct

from stoker.engine.model.interfaces import Ports
from stoker.engine.model.records import Action, Input, Stack, Status
from stoker.engine.model.requests import Caller, StackRequest
from stoker.engine.planning.evaluations import Documents, evaluation_at
from stoker.engine.planning.permissions import require_types
from stoker.engine.planning.presence import Presence
from stoker.engine.service.requests.feasibility import require_feasible
from stoker.engine.service.requests.fetch import EvaluatedInput, judged, with_fetched
from stoker.engine.service.requests.inputs import input_of, input_of_document
from stoker.engine.service.requests.pending_moves import require_moved
from stoker.kernel.addresses import STACK_NAME
from stoker.kernel.diagnostics import Diagnostic, DiagnosticError
from stoker.kernel.errors import BAD_REQUEST, NotFoundError, ValidationError, name_taken
from stoker.kernel.values import replace
from stoker.template.evaluate.evaluation import Evaluation
from stoker.template.parameters.parameters import immutable_changes


class NewStack(Struct, frozen=True):
    """A stack that is not recorded yet, with its input and its evaluation."""

    stack: Stack
    input: Input
    evaluation: Evaluation


async def evaluated(
    ports: Ports,
    stack: Stack,
    request: StackRequest,
    old: Input | None = None,
    earlier: Evaluation | None = None,
) -> EvaluatedInput:
    """Return the input that a request gives a stack, and diagnostics about it.

    ``old`` is the stack's input, if the request keeps some of it; ``earlier`` is the evaluation of
    the stack's input in any case.
    """
    input_id = ports.ids.uuid()

    def judge() -> tuple[Documents, EvaluatedInput]:
        known = ports.evaluations
        key = known.document_key(request) if old is None and _may_repeat(request, earlier) else None
        similar = known.of_document(key) or known.previewed(stack.id, request.template) or earlier
        stack_input, documents = input_of(input_id, stack.id, request, old, similar)
        found = judged(ports, stack, stack_input, documents, similar, {})
        if not found.missing:
            known.note_document(key, found.evaluation)
        return documents, found

    documents, found = await ports.workers.compute(judge)
    return await with_fetched(ports, stack, documents, found, earlier)


def _may_repeat(request: StackRequest, earlier: Evaluation | None) -> bool:
    """Return whether the document of a request may be known from another one.

    An update mostly repeats the text of its preview. Data is compared with that of the last preview
    and of the stack, which is faster than computing its key.
    """
    if earlier is None:
        return True
    return isinstance(request.template, str) and request.template != earlier.template.source.text


async def evaluated_new(
    ports: Ports,
    caller: Caller,
    request: StackRequest,
    stack_id: str | None = None,
    old: Input | None = None,
) -> NewStack:
    """Evaluate a create. ``old`` is the input of another stack that this one replaces."""
    name = check_name(request.name)
    stack = new_stack(ports, caller, name, request, stack_id)
    found = await evaluated(ports, stack, request, old)
    try:
        await _check(ports, caller, stack, request, found, adopts=old is not None)
    except Exception:
        # A name that is taken is reported first, whatever else is wrong.
        await require_free(ports, caller, name)
        raise
    description = description_of(found.evaluation)
    stack = replace(stack, description=description, input_id=found.input.id)
    return NewStack(stack, found.input, found.evaluation)


async def evaluated_in_review(
    ports: Ports, caller: Caller, stack: Stack, request: StackRequest
) -> tuple[Input, Evaluation]:
    """Evaluate a create of a stack that is recorded, but has only had change sets so far."""
    found = await evaluated(ports, stack, request)
    await _check(ports, caller, stack, request, found)
    return found.input, found.evaluation


async def evaluated_adopt(
    ports: Ports, caller: Caller, request: StackRequest, document: str
) -> NewStack:
    """Evaluate an adoption. Values that the request omits are read from the document."""
    stack_id = ports.ids.uuid()
    old, tags = await ports.workers.compute(lambda: input_of_document(stack_id, document))
    over = replace(request, existing=True, tags=request.tags or tags)
    new = await evaluated_new(ports, caller, over, stack_id, old)
    return replace(new, input=replace(new.input, adopted=old.adopted))


async def require_free(ports: Ports, caller: Caller, name: str) -> None:
    """Raise AlreadyExistsError for the name of a live stack. The store checks the name again."""
    if await ports.store.find_stack(caller.project_id, name) is not None:
        raise name_taken(name)


async def evaluated_update(
    ports: Ports, caller: Caller, stack: Stack, request: StackRequest
) -> tuple[Input, Evaluation]:
    """Evaluate an update."""
    try:
        old, earlier = await _before(ports, stack, request)
    except NotFoundError:
        # Another update has ended since the stack was read, and the input before it was dropped.
        current = await ports.store.stack(stack.id)
        if current is None or current.input_id == stack.input_id:
            raise
        stack = current
        old, earlier = await _before(ports, stack, request)
    found = await evaluated(ports, stack, request, old, earlier)
    await require_fixed(ports, found.evaluation, earlier)
    await _check(ports, caller, stack, request, found, earlier)
    return found.input, found.evaluation


async def require_fixed(ports: Ports, evaluation: Evaluation, earlier: Evaluation) -> None:
    """Raise DiagnosticError for changed values of immutable parameters."""

    def changes() -> Sequence[Diagnostic]:
        return immutable_changes(
            evaluation.resolved.declarations, earlier.parameters, evaluation.parameters
        )

    if fixed := await ports.workers.compute(changes):
        raise DiagnosticError(fixed)


async def _before(
    ports: Ports, stack: Stack, request: StackRequest
) -> tuple[Input | None, Evaluation]:
    """Return the input that the request keeps values of, and the evaluation that it changes."""
    old = await ports.store.input(stack.input_id) if request.existing else None
    return old, await evaluation_at(ports, stack, stack.input_id)


async def _check(
    ports: Ports,
    caller: Caller,
    stack: Stack,
    request: StackRequest,
    found: EvaluatedInput,
    earlier: Evaluation | None = None,
    *,
    adopts: bool = False,
) -> None:
    """Raise the errors that can be found before the request is recorded."""
    found.findings.raise_errors()
    require_types(ports.policy, caller, found.evaluation)
    await require_moved(ports, stack, found.evaluation)
    present = Presence(earlier, request.moves, request.import_objects.keys())
    await require_feasible(ports, stack, found, present, adopts=adopts)


def new_stack(
    ports: Ports, caller: Caller, name: str, request: StackRequest, stack_id: str | None = None
) -> Stack:
    """Return the row of a new stack."""
    now = ports.clock.now()
    return Stack(
        id=ports.ids.uuid() if stack_id is None else stack_id,
        project_id=caller.project_id,
        name=name,
        action=Action.INIT,
        status=Status.COMPLETE,
        reason="",
        created_at=now,
        input_id="",
        user_id=caller.user_id,
        user_name=caller.user_name,
        credentials={"token": caller.token, "project_id": caller.project_id},
        timeout_mins=request.timeout_mins,
        disable_rollback=request.disable_rollback is not False,
        tags=request.tags or (),
    )


def description_of(evaluation: Evaluation) -> str:
    """Return the description of a template for clients."""
    return str(evaluation.template.description or "No description")


def check_name(name: str | None) -> str:
    """Return the name of a new stack. Raises DiagnosticError for an impossible one."""
    if name is None:
        raise ValidationError("No stack name specified", BAD_REQUEST)
    if not STACK_NAME.fullmatch(name):
        raise DiagnosticError(
            [
                Diagnostic(
                    code="invalid-stack-name",
                    message=f'Invalid stack name "{name[:80]}": it must contain only alphanumeric'
                    ' or "_-." characters, must start with alpha and have 255 characters at most',
                )
            ]
        )
    return name
