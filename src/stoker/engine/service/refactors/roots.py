"""The root stacks of a refactor: as recorded, and as their new templates describe them."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from msgspec import Struct

from stoker.engine.model.interfaces import Ports
from stoker.engine.model.records import Stack, TreeState
from stoker.engine.model.requests import Caller, StackRequest
from stoker.engine.model.storage.changes import Guard
from stoker.engine.planning.evaluations import evaluation_at
from stoker.engine.planning.permissions import require_types
from stoker.engine.service.requests.evaluate import (
    check_name,
    description_of,
    evaluated,
    new_stack,
)
from stoker.engine.service.requests.fetch import EvaluatedInput
from stoker.engine.service.stack_access.guards import require_there, require_updatable
from stoker.engine.service.stack_access.lookup import Finder
from stoker.engine.service.stack_access.recorded_trees import RecordedStack, recorded
from stoker.engine.service.stack_access.shared_values import export_names, require_shared
from stoker.kernel.errors import (
    ActionInProgressError,
    NotFoundError,
    NotSupportedError,
    ValidationError,
)
from stoker.kernel.values import replace


class RefactoredRoot(Struct, frozen=True):
    """A root stack of a refactor: as recorded, and as its new template describes it."""

    stack: Stack
    recorded: RecordedStack | None  # None for a new stack
    state: TreeState | None
    found: EvaluatedInput


async def evaluated_root(
    ports: Ports, finder: Finder, caller: Caller, request: StackRequest, *, creates: bool
) -> RefactoredRoot:
    """Evaluate the new template of one stack."""
    name = request.name or ""
    try:
        stack = await finder.by_name_or_id(caller, name)
    except NotFoundError:
        if not creates:
            raise
        return await _new_root(ports, caller, name, request)
    require_there(stack)
    require_updatable(stack)
    if stack.parent_id is not None:
        raise NotSupportedError(
            f"{stack.name} is nested in another stack: refactor it with the template of its"
            " root stack"
        )
    # Read the state before the rows. A change between the two rejects the refactor.
    state = await ports.store.tree(stack.id)
    if state.open:
        raise busy(stack)
    old = await ports.store.input(stack.input_id) if request.existing else None
    earlier = await evaluation_at(ports, stack, stack.input_id)
    found = await evaluated(ports, stack, request, old, earlier)
    return RefactoredRoot(stack, await recorded(ports, stack), state, _sound(ports, caller, found))


async def _new_root(
    ports: Ports, caller: Caller, name: str, request: StackRequest
) -> RefactoredRoot:
    stack = new_stack(ports, caller, check_name(name), request)
    found = await evaluated(ports, stack, replace(request, existing=False))
    description = description_of(found.evaluation)
    stack = replace(stack, input_id=found.input.id, description=description)
    return RefactoredRoot(stack, None, None, _sound(ports, caller, found))


def _sound(ports: Ports, caller: Caller, found: EvaluatedInput) -> EvaluatedInput:
    found.findings.raise_errors()
    require_types(ports.policy, caller, found.evaluation)
    return found


def busy(stack: Stack) -> ActionInProgressError:
    """Return the error for a stack with an open operation, or one since it was read."""
    return ActionInProgressError(
        f"the stack {stack.name} is being changed, or has been in the meantime; try again when the"
        " operation has ended"
    )


async def require_exports_stay(ports: Ports, roots: Sequence[RefactoredRoot]) -> None:
    """Raise ValidationError for an export that would move to another stack."""
    for root in roots:
        names = await export_names(ports, root.found.evaluation)
        for other in await ports.store.exports(root.stack.project_id, sorted(names)):
            if other.stack_id != root.stack.id:
                raise ValidationError(
                    f"Export with name {other.name} is already exported by stack"
                    f" {other.stack_name}. A refactor does not move exports: export the value under"
                    " another name first"
                )


async def guards_of_exports(ports: Ports, roots: Sequence[RefactoredRoot]) -> list[Guard]:
    """Return the checks of exports and imports in the transaction of a refactor."""
    guards: list[Guard] = []
    for root in roots:
        names = await export_names(ports, root.found.evaluation)
        stack, stack_input = root.stack, root.found.input
        guards.append(partial(require_shared, stack=stack, stack_input=stack_input, names=names))
    return guards
