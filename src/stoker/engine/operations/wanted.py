"""What an operation wants: the definitions that it brings a stack to."""

from __future__ import annotations

from stoker.engine.execution.session import Session
from stoker.engine.model.plans import Definitions, Nothing
from stoker.engine.model.records import Action, Operation, OperationStatus
from stoker.engine.model.secrets import masking_of
from stoker.engine.planning.evaluations import evaluation_at
from stoker.engine.planning.permissions import owner_of, require_types
from stoker.kernel.errors import Invalid


async def wanted_by(session: Session, operation: Operation) -> Definitions:
    """The definitions to reach. Raises DiagnosticError and Refused for what cannot be reached."""
    kept = session.ports.kept.get(session.stack.input_id)
    known = [] if kept is None else [kept]
    session.masking = await session.ports.workers.compute(lambda: masking_of(*known))
    if operation.action is Action.DELETE:
        return Nothing()
    _require_readable(session)
    if operation.input_id is None:
        return Nothing()
    ports, stack = session.ports, session.stack
    wanted = await evaluation_at(ports, stack, operation.input_id)
    if wanted is not kept:
        session.masking = await ports.workers.compute(lambda: masking_of(wanted, *known))
    # computed now, not later on the loop
    await ports.workers.compute(lambda: wanted.attributes_used)
    if stack.parent_id is not None and operation.status is OperationStatus.WAITING:
        owner, policy = owner_of(stack), ports.policy
        await ports.workers.compute(lambda: require_types(policy, owner, wanted))
    return wanted


def _require_readable(session: Session) -> None:
    """Raise Invalid for rows that nothing can be decided by."""
    damaged = [("the stack", session.stack.unreadable)]
    damaged += [(row.name, row.unreadable) for row in session.rows.values()]
    for name, fields in damaged:
        if fields:
            raise Invalid(
                f"what is stored of {name} cannot be read ({', '.join(fields)}): bring back the"
                " database and the key that belong together, or delete the stack"
            )
