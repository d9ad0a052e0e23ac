"""The desired state of an operation: the definitions that it applies to a stack.

Takes the recorded stack and an operation. Produces the evaluation of the operation's input, or no
definitions for a delete and for a rollback to nothing. For a restore, the parts of the snapshot
replace evaluated values.

Changes, cancels and their successors call it before they plan. A nested stack is checked here
for the limits and permissions that depend on values known only after the request was accepted.
Tested by tests/operations/test_sizes.py, test_snapshots.py and tests/properties.
"""

from __future__ import annotations

from stoker.engine.execution.session import Session
from stoker.engine.model.kinds import ChangeRequest
from stoker.engine.model.plans import Definitions, NoDefinitions
from stoker.engine.model.records import Action, Operation, OperationStatus
from stoker.engine.model.secrets import masking_of
from stoker.engine.planning.constraints import constraint_diagnostics
from stoker.engine.planning.evaluations import evaluation_at
from stoker.engine.planning.permissions import owner_of, require_types
from stoker.engine.planning.restoring import Restored
from stoker.engine.planning.sizes import require_resources
from stoker.engine.planning.stack_secrets import masking_at
from stoker.kernel.diagnostics import DiagnosticError, first_of
from stoker.kernel.errors import ValidationError
from stoker.template.evaluate.evaluation import Evaluation


async def desired_state_of(session: Session, operation: Operation) -> Definitions:
    """Return the definitions to apply. Raises DiagnosticError or RequestError for invalid input."""
    ports, stack = session.ports, session.stack
    # Rows have values of earlier inputs, and the error of a refused update may show them.
    rows = tuple(session.rows.values())
    session.mask(await masking_at(ports, stack, rows, operation.input_id))
    if operation.action is Action.DELETE:
        return NoDefinitions()
    _require_readable(session)
    if operation.input_id is None:
        return NoDefinitions()
    input_ = session.held(operation.input_id)
    starts_nested = stack.parent_id is not None and operation.status is OperationStatus.WAITING

    def check(desired: Evaluation) -> None:
        _ = (
            desired.attributes_used
        )  # Compute this on the thread. It takes long for large templates.
        if starts_nested:
            require_types(ports.policy, owner_of(stack), desired)
        session.mask(masking_of(desired, rows=rows))

    desired = await evaluation_at(ports, stack, operation.input_id, input_, check)
    if starts_nested and operation.action is Action.CREATE:
        # Check creates only. A flavor or image that a resource was created with may be deleted by
        # the time of an update or a rollback, and the resource still stays as it is.
        diagnostics = await constraint_diagnostics(ports, stack, desired, ports.clouds.known_faults)
        if diagnostics:
            raise DiagnosticError(first_of(diagnostics))
    max_resources = ports.limits.resources_per_stack
    if starts_nested and max_resources >= 0:
        # The size of a group, or nested stacks of a template, may be known only after the request.
        others = await ports.store.count_resources(stack.root_id or stack.id, stack.id)
        require_resources(max_resources, others + len(desired.names))
    return desired


async def restored(session: Session, operation: Operation, desired: Definitions) -> Definitions:
    """Return the definitions, with the parts of a snapshot if the operation restores one.

    Raises ValidationError for a snapshot that is gone.
    """
    request = operation.request
    if not isinstance(request, ChangeRequest) or not request.restores:
        return desired
    snapshot_id, *path = request.restores
    if await session.ports.store.snapshot(snapshot_id) is None:
        raise ValidationError(f"the snapshot {snapshot_id} has been deleted in the meantime")
    parts = await session.ports.store.snapshot_parts(snapshot_id, path)
    if damaged := [part for part in parts if part.unreadable]:
        raise ValidationError(
            f"what the snapshot holds of {'.'.join(damaged[0].path)} cannot be read"
        )
    return Restored(desired, parts, tuple(path))


def _require_readable(session: Session) -> None:
    """Raise ValidationError if a row cannot be decrypted: nothing can be decided by it."""
    damaged = [("the stack", session.stack.unreadable)]
    damaged += [(row.name, row.unreadable) for row in session.rows.values()]
    for name, fields in damaged:
        if fields:
            raise ValidationError(
                f"what is stored of {name} cannot be read ({', '.join(fields)}): bring back the"
                " database and the key that belong together, or delete the stack"
            )
