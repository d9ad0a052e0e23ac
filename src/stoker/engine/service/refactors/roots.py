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
    require_fixed,
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
    exports: frozenset[str]  # names that the new template exports

    @property
    def guard_of_exports(self) -> Guard:
        """Return the check of exports and imports in the transaction of the refactor."""
        return partial(
            require_shared, stack=self.stack, stack_input=self.found.input, names=self.exports
        )


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
    if (request.tags, request.timeout_mins, request.disable_rollback) != (None, None, None):
        raise ValidationError(
            f"{stack.name} exists. A refactor sets tags, timeout_mins and disable_rollback of new"
            " stacks; update this one before or after it"
        )
    # Read the state before the rows. A change between the two rejects the refactor.
    state = await ports.store.tree(stack.id)
    if state.open:
        raise busy(stack)
    try:
        old = await ports.store.input(stack.input_id) if request.existing else None
        earlier = await evaluation_at(ports, stack, stack.input_id)
    except NotFoundError:  # An update has ended since, and the input before it was dropped.
        raise busy(stack) from None
    found = await evaluated(ports, stack, request, old, earlier)
    await require_fixed(ports, found.evaluation, earlier)
    return await _root(ports, caller, stack, found, (await recorded(ports, stack), state))


async def _new_root(
    ports: Ports, caller: Caller, name: str, request: StackRequest
) -> RefactoredRoot:
    stack = new_stack(ports, caller, check_name(name), request)
    found = await evaluated(ports, stack, replace(request, existing=False))
    return await _root(ports, caller, replace(stack, input_id=found.input.id), found)


async def _root(
    ports: Ports,
    caller: Caller,
    stack: Stack,
    found: EvaluatedInput,
    before: tuple[RecordedStack, TreeState] | tuple[None, None] = (None, None),
) -> RefactoredRoot:
    """Check an evaluated template. ``before`` is the recorded stack, and its state."""
    found.findings.raise_errors()
    require_types(ports.policy, caller, found.evaluation)
    exports = await export_names(ports, found.evaluation)
    stack = replace(stack, description=description_of(found.evaluation))
    return RefactoredRoot(stack, before[0], before[1], found, exports)


def busy(stack: Stack) -> ActionInProgressError:
    """Return the error for a stack with an open operation, or one since it was read."""
    return ActionInProgressError(
        f"the stack {stack.name} is being changed, or has been in the meantime; try again when the"
        " operation has ended"
    )


async def require_exports_stay(ports: Ports, roots: Sequence[RefactoredRoot]) -> None:
    """Raise ValidationError for an export that would move to another stack."""
    for root in roots:
        for other in await ports.store.exports(root.stack.project_id, sorted(root.exports)):
            if other.stack_id != root.stack.id:
                raise ValidationError(
                    f"Export with name {other.name} is already exported by stack"
                    f" {other.stack_name}. A refactor does not move exports: export the value under"
                    " another name first"
                )
