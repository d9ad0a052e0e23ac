"""Commits the start and the end of operations.

Takes an operation and its reason. Produces one commit: the new status of the stack, its event, the
operation, and the rows that it leaves unfinished. A failed operation with rollback ends in the
commit that starts the rollback, so that no other operation can run between them.

Invariant: a stack's status and its event are never committed apart, and no row stays in progress
after its operation has failed.

All kinds of operations call it, and the driver, which refuses operations that cannot be prepared.
Tested by tests/operations/test_operations.py, tests/rollback/test_target.py and the simulation.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from stoker.engine.execution.calls.hooks import superseded_pauses
from stoker.engine.execution.calls.server_metadata import cancel_deployments
from stoker.engine.execution.observe.exporting import exported, read_shown
from stoker.engine.execution.session import Session
from stoker.engine.model.interfaces import ENDS_TURN, Ports
from stoker.engine.model.kinds import ChangeRequest, OperationKind, is_express
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
from stoker.engine.operations.refresh import refresh_around
from stoker.kernel.errors import ValidationError
from stoker.kernel.logs.log import Log
from stoker.kernel.values import replace
from stoker.template.evaluate.evaluation import Evaluation

log = Log(__name__)


def in_force(stack: Stack) -> str | None:
    """Return the last input that was applied, completely or not; None for no input."""
    # An input counts from the start of its operation, as in Heat: a rollback goes back to the
    # template that the user gave last, not to the last one that succeeded.
    emptied = (stack.action, stack.status) == (Action.ROLLBACK, Status.COMPLETE)
    return None if emptied and stack.good_input_id is None else stack.input_id


async def cancelled(session: Session, operation: Operation) -> Operation:
    """Return a cancel with rollback, with the input in force before the cancelled operation."""
    if operation.cancels is None:
        return operation
    other = await session.ports.store.operation(operation.cancels)
    has_started = other is not None and (
        other.action is Action.CREATE
        or other.plan is not None
        or other.status is not OperationStatus.SUPERSEDED
    )
    # ``back_to`` is set at the start. An update that never started has changed nothing.
    back_to = other.back_to if other is not None and has_started else in_force(session.stack)
    return replace(operation, input_id=back_to, cancels=None)


async def begin(
    session: Session,
    operation: Operation,
    changed: Sequence[Resource] = (),
    changes: Sequence[Event] = (),
) -> Operation:
    """Start the operation and mark its stack as in progress.

    ``changed`` are the rows of moved and imported resources, and rows whose dependencies have new
    names; ``changes`` are the events of the former.
    """
    # Set the input for a rollback only now. The input in force may have changed since the operation
    # was accepted, as by an update that this one superseded.
    is_waiting = operation.status is OperationStatus.WAITING
    if operation.action is Action.UPDATE and is_waiting:
        operation = replace(operation, back_to=in_force(session.stack))
    if is_waiting:
        session.started_operation_id = operation.id
    operation = replace(operation, status=OperationStatus.RUNNING)
    stack, events = _in_progress(session, operation)
    paused, releases = superseded_pauses(session)
    await session.commit(
        stack=stack,
        resources=[*{row.id: row for row in (*changed, *paused)}.values()],
        operations=[operation],
        events=[*events, *changes],
        dropped_signals=releases,
    )
    return operation


def _in_progress(session: Session, operation: Operation) -> tuple[Stack | None, list[Event]]:
    """Return the stack with the operation in progress, and its event unless already written."""
    stack = session.stack
    if (stack.action, stack.status) == (operation.action, Status.IN_PROGRESS) and (
        operation.action in (Action.CREATE, Action.ADOPT, Action.ROLLBACK)
    ):
        # The request itself, or the failed operation that started this rollback, wrote the event.
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
    session: Session, operation: Operation, desired: Definitions, note: str = ""
) -> None:
    """End an operation whose actions are all done.

    ``desired`` is the desired state, ``note`` is appended to the reason of the stack. The operation
    fails if the stack may not export its outputs.
    """
    reason = f"Stack {operation.action} completed successfully"
    changes: dict[str, Any] = {}
    if operation.action is Action.DELETE:
        changes["deleted_at"] = session.ports.clock.now()
        session.export(() if session.stack.parent_id is None else None)
    else:
        # A walk reaches no input: a check after a failed update does not make its template good.
        if isinstance(operation.request, ChangeRequest):
            changes["good_input_id"] = operation.input_id
        if isinstance(desired, Evaluation) and desired.template.outputs:
            await read_shown(session, desired)
        if isinstance(desired, Evaluation) and isinstance(operation.request, ChangeRequest):
            try:
                session.export(await exported(session, desired))
            except ValidationError as invalid:
                await fail(session, operation, invalid.message)
                return
    stack, event = session.transitions.stack_to(
        session.stack, operation.action, Status.COMPLETE, reason + note, **changes
    )
    ended = replace(operation, status=OperationStatus.COMPLETE, reason=reason, plan=None)
    if operation.action is Action.DELETE:
        # Before the commit, after which no driver would try again.
        await _revoke_credentials(session.ports, session.stack)
    # No parent operation waits for a nested stack that was changed directly, as by a signal. The
    # parent gets an operation of its own, to record the new attributes.
    is_direct = operation.parent_operation is None and operation.action is not Action.DELETE
    refreshes = refresh_around(session) if is_direct else []
    await session.commit(stack=stack, operations=[ended, *refreshes], events=[event])
    session.ports.evaluations.forget_older(stack.id, operation.input_id)


async def _revoke_credentials(ports: Ports, stack: Stack) -> None:
    """Remove the stack's objects in Keystone; a failure there must not keep the stack."""
    if stack.parent_id is not None:
        return
    try:
        await ports.workers.run("identity", lambda: ports.signallers.close(stack))
        await ports.deferred.revoke(stack.credentials)
    except ENDS_TURN:
        raise
    except Exception as error:  # noqa: BLE001 - the stack is deleted regardless of errors of Keystone
        log.warning("credentials left behind", stack=stack.id, error=str(error))


async def fail(session: Session, operation: Operation, reason: str, note: str = "") -> None:
    """End a failed operation and, if requested, start the rollback or the delete after it."""
    stack, event = session.transitions.stack_to(
        session.stack, operation.action, Status.FAILED, reason + note
    )
    ended = replace(operation, status=OperationStatus.FAILED, reason=reason, plan=None)
    rows, row_events = await unfinished(session, reason)
    operations, events = [ended], [*row_events, event]
    if isinstance(operation.request, ChangeRequest) and operation.request.deletes:
        operations.append(_removal(session, operation))
    elif isinstance(operation.request, ChangeRequest) and operation.request.rollback:
        rollback = _rollback(session, operation)
        stack, started = session.transitions.stack_to(
            stack,
            Action.ROLLBACK,
            Status.IN_PROGRESS,
            f"Stack ROLLBACK started: {reason}",
            input_id=rollback.input_id or stack.input_id,
        )
        operations.append(rollback)
        events.append(started)
    await session.commit(stack=stack, resources=rows, operations=operations, events=events)


def _rollback(session: Session, operation: Operation) -> Operation:
    # The rollback of an adopt leaves every object in the cloud: they existed before the stack.
    request = ChangeRequest(
        abandons=operation.action is Action.ADOPT,
        express=is_express(operation.request),
    )
    return _following(session, operation, Action.ROLLBACK, request, operation.back_to)


def _removal(session: Session, operation: Operation) -> Operation:
    request = ChangeRequest(
        releases_imports=operation.action is Action.CREATE, express=is_express(operation.request)
    )
    return _following(session, operation, Action.DELETE, request)


def _following(
    session: Session,
    operation: Operation,
    action: Action,
    request: ChangeRequest,
    input_id: str | None = None,
) -> Operation:
    """Return an operation that starts when another has failed, with its own time limit."""
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
    """Return a cancel as ended. Its end is that of the cancelled operation: the stack failed."""
    reason = reason_of_cancelled(operation.action)
    return replace(operation, status=OperationStatus.FAILED, reason=reason, plan=None)


async def end_cancel(session: Session, operation: Operation) -> None:
    """End a started cancel; its start has already reported the state of the stack."""
    rows, events = await unfinished(session, reason_of_cancelled(operation.action))
    await session.commit(resources=rows, events=events, operations=[ended_cancel(operation)])


async def unfinished(session: Session, reason: str) -> tuple[list[Resource], list[Event]]:
    """Return rows in progress as failed, and their events.

    Deployments to servers that have not reported are recorded as failed.
    """
    failed = [
        session.transitions.resource_to(
            row, row.action, Status.FAILED, f"{row.action} aborted: {reason}"
        )
        for row in session.rows.values()
        if row.status is Status.IN_PROGRESS
    ]
    rows = [row for row, _ in failed]
    await cancel_deployments(session, rows)
    return rows, [event for _, event in failed]
