"""Start and end of operations: status of the stack, its event and the operation, together.

A failed operation with rollback ends in the transaction that starts the rollback, so that no other
operation can run between them. Unfinished actions of an operation are reported as failed with it.
"""

from __future__ import annotations

from typing import Any

from stoker.engine.execution.calls.hooks import superseded_pauses
from stoker.engine.execution.calls.server_metadata import cancel_deployments
from stoker.engine.execution.session import Session
from stoker.engine.model.interfaces import ENDS_TURN, Ports
from stoker.engine.model.kinds import ChangeRequest, OperationKind
from stoker.engine.model.plans import Definitions
from stoker.engine.model.records import (
    Action,
    Event,
    Operation,
    OperationStatus,
    Resource,
    Stack,
    Status,
)
from stoker.engine.operations.exporting import exported, read_shown
from stoker.engine.operations.refresh import refresh_around
from stoker.kernel.errors import ValidationError
from stoker.kernel.log import Log
from stoker.kernel.values import replace
from stoker.template.evaluate.evaluation import Evaluation

log = Log(__name__)


def in_force(stack: Stack) -> str | None:
    """Return the last input that was applied, completely or not; None for no input.

    An incomplete one counts: users go back to the input that they gave last.
    """
    emptied = (stack.action, stack.status) == (Action.ROLLBACK, Status.COMPLETE)
    return None if emptied and stack.good_input_id is None else stack.input_id


async def cancelled(session: Session, operation: Operation) -> Operation:
    """Return an operation that cancels another, with the input in force before that started."""
    if operation.cancels is None:
        return operation
    given_up = await session.ports.store.operation(operation.cancels)
    has_begun = given_up is not None and (
        given_up.action is Action.CREATE
        or given_up.plan is not None
        or given_up.status is not OperationStatus.SUPERSEDED
    )
    back_to = given_up.back_to if given_up is not None and has_begun else in_force(session.stack)
    return replace(operation, input_id=back_to, cancels=None)


async def begin(session: Session, operation: Operation) -> Operation:
    """Start the operation and mark its stack as in progress.

    The input for a rollback is set only now: the input in force may have changed since the
    operation was accepted.
    """
    if operation.action is Action.UPDATE and operation.status is OperationStatus.WAITING:
        operation = replace(operation, back_to=in_force(session.stack))
    if operation.status is OperationStatus.WAITING:
        session.begun = operation.id
    operation = replace(operation, status=OperationStatus.RUNNING)
    stack, events = _in_progress(session, operation)
    paused, releases = superseded_pauses(session)
    await session.commit(
        stack=stack,
        resources=paused,
        operations=[operation],
        events=events,
        dropped_signals=releases,
    )
    return operation


def _in_progress(session: Session, operation: Operation) -> tuple[Stack | None, list[Event]]:
    """Return the stack with the operation in progress, and its event unless already written."""
    stack = session.stack
    if (stack.action, stack.status) == (operation.action, Status.IN_PROGRESS) and (
        operation.action in (Action.CREATE, Action.ADOPT, Action.ROLLBACK)
    ):
        return None, []
    request = operation.request
    changes = dict(request.settings) if isinstance(request, ChangeRequest) else {}
    if operation.action is not Action.DELETE:
        changes["updated_at"] = operation.created_at
    if operation.input_id is not None:
        changes["input_id"] = operation.input_id
    stack, event = session.transitions.stack_to(
        stack,
        operation.action,
        Status.IN_PROGRESS,
        f"Stack {operation.action} started",
        **changes,
    )
    return stack, [event]


async def succeed(
    session: Session, operation: Operation, wanted: Definitions, note: str = ""
) -> None:
    """End an operation that has done everything.

    ``wanted`` is the desired state, ``note`` is appended to the reason of the stack. The operation
    fails if the stack may not export its outputs.
    """
    reason = f"Stack {operation.action} completed successfully"
    changes: dict[str, Any] = {}
    if operation.action is Action.DELETE:
        changes["deleted_at"] = session.ports.clock.now()
        session.export(() if session.stack.parent_id is None else None)
    else:
        if isinstance(operation.request, ChangeRequest):
            changes["good_input_id"] = operation.input_id
        if isinstance(wanted, Evaluation) and wanted.template.outputs:
            await read_shown(session, wanted)
        if isinstance(wanted, Evaluation) and isinstance(operation.request, ChangeRequest):
            try:
                session.export(await exported(session, wanted))
            except ValidationError as invalid:
                await fail(session, operation, invalid.message)
                return
    stack, event = session.transitions.stack_to(
        session.stack, operation.action, Status.COMPLETE, reason + note, **changes
    )
    ended = replace(operation, status=OperationStatus.COMPLETE, reason=reason, plan=None)
    if operation.action is Action.DELETE:
        await _give_back(session.ports, session.stack)
    # A nested stack that has changed on its own: the one around it is not waiting.
    alone = operation.parent_operation is None and operation.action is not Action.DELETE
    above = refresh_around(session) if alone else []
    await session.commit(stack=stack, operations=[ended, *above], events=[event])
    session.ports.kept.forget_older(stack.id, operation.input_id)


async def _give_back(ports: Ports, stack: Stack) -> None:
    """Remove the stack's objects in Keystone; a failure there must not keep the stack."""
    if stack.parent_id is not None:
        return
    try:
        await ports.workers.run("identity", lambda: ports.signallers.close(stack))
        await ports.deferred.revoke(stack.credentials)
    except ENDS_TURN:
        raise
    except Exception as error:  # noqa: BLE001 - whatever Keystone says, the stack is gone
        log.warning("credentials left behind", stack=stack.id, error=str(error))


async def fail(session: Session, operation: Operation, reason: str, note: str = "") -> None:
    """The end of a failed operation and, where asked for, the start of the way back."""
    stack, event = session.transitions.stack_to(
        session.stack, operation.action, Status.FAILED, reason + note
    )
    ended = replace(operation, status=OperationStatus.FAILED, reason=reason, plan=None)
    left, told = await unfinished(session, reason)
    operations, events = [ended], [*told, event]
    if isinstance(operation.request, ChangeRequest) and operation.request.deletes:
        operations.append(_removal(session, operation))
    elif isinstance(operation.request, ChangeRequest) and operation.request.rollback:
        back = _way_back(session, operation)
        stack, begun = session.transitions.stack_to(
            stack,
            Action.ROLLBACK,
            Status.IN_PROGRESS,
            f"Stack ROLLBACK started: {reason}",
            input_id=back.input_id or stack.input_id,
        )
        operations.append(back)
        events.append(begun)
    await session.commit(stack=stack, resources=left, operations=operations, events=events)


def _way_back(session: Session, operation: Operation) -> Operation:
    # what was adopted was there before the stack
    request = ChangeRequest(abandons=operation.action is Action.ADOPT)
    return _following(session, operation, Action.ROLLBACK, request, operation.back_to)


def _removal(session: Session, operation: Operation) -> Operation:
    return _following(session, operation, Action.DELETE, ChangeRequest())


def _following(
    session: Session,
    operation: Operation,
    action: Action,
    request: ChangeRequest,
    input_id: str | None = None,
) -> Operation:
    """An operation that starts where another one has ended, with a time limit of its own."""
    ports = session.ports
    now = ports.clock.now()
    return Operation(
        id=ports.ids.uuid(),
        stack_id=operation.stack_id,
        action=action,
        created_at=now,
        request=request,
        input_id=input_id,
        deadline=now + ports.time_limit(session.stack),
        client_token=operation.client_token,
    )


async def refuse(session: Session, operation: Operation, reason: str) -> None:
    """End the operation as failed; one on signals does not change the status of the stack."""
    if operation.action is Action.SIGNAL:
        ended = replace(operation, status=OperationStatus.FAILED, reason=reason)
        await session.commit(operations=[ended])
        return
    if operation.status is OperationStatus.WAITING:
        operation = await begin(session, operation)
    elif operation.kind is OperationKind.CANCEL:
        await end_cancel(session, operation)
        return
    await fail(session, operation, reason)


def reason_of_cancelled(action: Action) -> str:
    """Return the reason of a stack whose operation was cancelled."""
    return f"Stack {action} cancelled"


def ended_cancel(operation: Operation) -> Operation:
    """The end of a cancel, which is that of the operation that it gave up."""
    reason = reason_of_cancelled(operation.action)
    return replace(operation, status=OperationStatus.FAILED, reason=reason, plan=None)


async def end_cancel(session: Session, operation: Operation) -> None:
    """End a started cancel; its start has already reported the state of the stack."""
    left, told = await unfinished(session, reason_of_cancelled(operation.action))
    await session.commit(resources=left, events=told, operations=[ended_cancel(operation)])


async def unfinished(session: Session, reason: str) -> tuple[list[Resource], list[Event]]:
    """Return rows with unfinished actions of this operation, as failed, and their events.

    Missing reports of servers are recorded as failed.
    """
    made = [
        session.transitions.resource_to(
            row, row.action, Status.FAILED, f"{row.action} aborted: {reason}"
        )
        for row in session.rows.values()
        if row.status is Status.IN_PROGRESS
    ]
    left = [row for row, _ in made]
    await cancel_deployments(session, left)
    return left, [event for _, event in made]
