"""The desired state of an operation: the definitions that it applies to a stack."""

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
from stoker.kernel.diagnostics import DiagnosticError, first_of
from stoker.kernel.errors import ValidationError
from stoker.template.evaluate.evaluation import Evaluation


async def wanted_by(session: Session, operation: Operation) -> Definitions:
    """Return the definitions to apply. Raises DiagnosticError and Refused if that is impossible."""
    ports, stack = session.ports, session.stack
    before = ports.kept.get(stack.input_id)
    known = [] if before is None else [before]
    if known and before is not ports.kept.get(operation.input_id or ""):
        # what is refused now may name values of what the stack is
        session.masking = await ports.workers.compute(lambda: masking_of(*known))
    if operation.action is Action.DELETE:
        return NoDefinitions()
    _require_readable(session)
    if operation.input_id is None:
        return NoDefinitions()
    given = session.held(operation.input_id)
    begins_nested = stack.parent_id is not None and operation.status is OperationStatus.WAITING

    def look(wanted: Evaluation) -> None:
        _ = wanted.attributes_used  # computed now, not later on the loop
        if begins_nested:
            require_types(ports.policy, owner_of(stack), wanted)
        session.masking = masking_of(wanted, *(each for each in known if each is not wanted))

    wanted = await evaluation_at(ports, stack, operation.input_id, given, look)
    if begins_nested and operation.action is Action.CREATE:
        # what an update or a rollback keeps may have lost what it was made with
        found = await constraint_diagnostics(ports, stack, wanted, ports.clouds.known_faults)
        if found:
            raise DiagnosticError(first_of(found))
    most = ports.limits.resources_per_stack
    if begins_nested and most >= 0:
        # The size of a group, or nested stacks of a template, may be known only after the request.
        others = await ports.store.count_resources(stack.root_id or stack.id, stack.id)
        require_resources(most, others + len(wanted.names))
    return wanted


async def restored(session: Session, operation: Operation, wanted: Definitions) -> Definitions:
    """Return the definitions, with the parts of a snapshot if the operation restores one.

    Raises ValidationError for a snapshot that is gone.
    """
    request = operation.request
    if not isinstance(request, ChangeRequest) or not request.restores:
        return wanted
    snapshot_id, *way = request.restores
    if await session.ports.store.snapshot(snapshot_id) is None:
        raise ValidationError(f"the snapshot {snapshot_id} has been deleted in the meantime")
    parts = await session.ports.store.snapshot_parts(snapshot_id)
    if damaged := [part for part in parts if part.unreadable]:
        raise ValidationError(
            f"what the snapshot holds of {'.'.join(damaged[0].path)} cannot be read"
        )
    return Restored(wanted, parts, tuple(way))


def _require_readable(session: Session) -> None:
    """Raise ValidationError for rows that nothing can be decided by."""
    damaged = [("the stack", session.stack.unreadable)]
    damaged += [(row.name, row.unreadable) for row in session.rows.values()]
    for name, fields in damaged:
        if fields:
            raise ValidationError(
                f"what is stored of {name} cannot be read ({', '.join(fields)}): bring back the"
                " database and the key that belong together, or delete the stack"
            )
