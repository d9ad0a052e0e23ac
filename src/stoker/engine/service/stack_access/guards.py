"""Checks that a request must pass, most of them inside the transaction that records it.

The evaluation of a request takes a while. Other requests are accepted in the meantime, by this
process or by another. So the conditions of the request are checked again in the transaction.

A check is a function whose first argument is the reader of that transaction; its other arguments
are bound with ``partial``. It returns nothing, or raises the error that the client receives. The
first failed check decides, so their order is part of the API.

Called by the services of this package. Tested by tests/operations/test_requests.py,
test_client_tokens.py, test_cancel.py and test_walks.py.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from stoker.engine.model.interfaces import Ports, TransactionReader
from stoker.engine.model.kinds import OperationKind
from stoker.engine.model.limits import Limits
from stoker.engine.model.records import (
    CANCELLABLE,
    Action,
    Queued,
    Resource,
    Stack,
    Status,
    is_walked,
    under_way,
)
from stoker.engine.model.requests import Caller
from stoker.engine.model.stack_records.client_tokens import ClientToken, RequestWithToken
from stoker.engine.model.stack_records.snapshots import SnapshotPart
from stoker.engine.service.stack_access.recorded_trees import recorded
from stoker.engine.service.stack_access.shared_values import require_not_imported
from stoker.kernel.errors import (
    RESOURCE_NOT_FOUND,
    TOKEN_EXISTS,
    ActionInProgressError,
    AlreadyExistsError,
    LimitExceededError,
    NotFoundError,
    NotSupportedError,
    PlanOutdatedError,
)
from stoker.kernel.json.text import dumps


class AlreadyDoneError(Exception):
    """The stack is in the requested state already, or an operation to it is open."""


def live(inside: TransactionReader, stack: Stack) -> Stack:
    """Return the stack as it is now. Raises NotFoundError if it has been deleted."""
    now = inside.stack(stack.id)
    if now is None or now.deleted_at is not None:
        raise _gone(stack)
    return now


def require_there(stack: Stack) -> None:
    """Raise NotFoundError for a stack that has been deleted."""
    if stack.deleted_at is not None:
        raise _gone(stack)


def _gone(stack: Stack) -> NotFoundError:
    return NotFoundError(f"the stack {stack.name} ({stack.id}) has already been deleted")


def is_deleting(stack: Stack) -> bool:
    """Return whether a delete is queued, in progress or done."""
    deleting = stack.action is Action.DELETE and stack.status is not Status.FAILED
    return deleting or stack.requested is Action.DELETE


def require_updatable(stack: Stack) -> None:
    """Raise NotSupportedError for a stack that is being deleted or is suspended.

    Raises ActionInProgressError while it is resumed or adopted.
    """
    require_made(stack)
    if is_deleting(stack):
        raise NotSupportedError(f"the stack {stack.name} is being deleted and cannot be updated")
    if is_suspended(stack):
        raise NotSupportedError(
            f"Updating a stack when it is suspended is not supported. Resume {stack.name} first"
        )
    action = stack.requested or stack.action
    waiting = stack.requested is not None or stack.status is Status.IN_PROGRESS
    if waiting and action in (Action.RESUME, Action.ADOPT):
        raise ActionInProgressError(_busy(stack, action))


def require_still_updatable(inside: TransactionReader, *, stack: Stack) -> None:
    """Raise as :func:`require_updatable`, for the stack as it is now."""
    require_updatable(live(inside, stack))


def require_deletable(inside: TransactionReader, *, stack: Stack) -> None:
    """Raise AlreadyDoneError for a stack that is being deleted.

    Raises as :func:`require_disposable`, too.
    """
    if is_deleting(live(inside, stack)):
        raise AlreadyDoneError
    require_disposable(inside, stack)


def require_disposable(inside: TransactionReader, stack: Stack) -> None:
    """Raise an error for a stack that must not be deleted.

    It is protected (NotSupportedError), nested in a protected one, or other stacks import its
    exports (ExportInUseError).
    """
    require_not_imported(inside, stack)
    if inside.protection(stack.root_id or stack.id).keeps:
        raise NotSupportedError(
            f"Stack [{stack.name}] cannot be deleted while TerminationProtection is enabled"
        )


def is_in_review(stack: Stack) -> bool:
    """Return whether the stack has change sets and nothing else yet."""
    return (stack.action, stack.requested) == (Action.INIT, None)


def require_made(stack: Stack) -> None:
    """Raise NotSupportedError for a stack that only has change sets."""
    if is_in_review(stack):
        raise NotSupportedError(
            f"Stack {stack.name} is in REVIEW_IN_PROGRESS state: execute a change set that creates"
            " it, or delete it"
        )


def require_in_review(inside: TransactionReader, *, stack: Stack) -> None:
    """Raise PlanOutdatedError for a stack that has more than change sets by now."""
    if not is_in_review(live(inside, stack)):
        raise PlanOutdatedError(f"the stack {stack.name} has been created in the meantime")


def is_suspended(stack: Stack) -> bool:
    """Return whether some of its resources are suspended, or are about to be."""
    return (stack.requested or stack.action) is Action.SUSPEND


def require_awake(stack: Stack) -> None:
    """Raise NotSupportedError for a suspended stack: its resources are not in their usual state."""
    if is_suspended(stack):
        raise NotSupportedError(
            f"Checking a stack when it is suspended is not supported. Resume {stack.name} first"
        )


def require_rest(stack: Stack, queue: Sequence[Queued]) -> None:
    """Raise ActionInProgressError for a stack with an open operation, except signals."""
    require_made(stack)
    changes = [op for op in queue if op.action is not Action.SIGNAL]
    if changes:
        raise ActionInProgressError(_busy(stack, changes[-1].action))


def require_walkable(inside: TransactionReader, *, stack: Stack, action: Action) -> None:
    """Raise an error if a suspend, resume or check cannot start now.

    That is AlreadyDoneError if the action was the stack's last one.
    """
    now = live(inside, stack)
    require_rest(now, inside.queue(stack.id))
    if action is Action.CHECK:
        require_awake(now)
    if is_walked(now, action):
        raise AlreadyDoneError


def require_markable(inside: TransactionReader, *, stack: Stack) -> None:
    """Raise ActionInProgressError if anything but marks is in progress or queued."""
    now = live(inside, stack)
    if any(op.kind is not OperationKind.MARK for op in inside.queue(stack.id)):
        raise ActionInProgressError(_busy(now, now.action))


def _busy(stack: Stack, action: Action) -> str:
    return f"Stack {stack.name} already has an action ({action}) in progress; wait for its end"


def cancellable(stack: Stack, queue: Sequence[Queued], *, back: bool) -> Queued:
    """Return the update or create in progress. Raises NotSupportedError if there is none.

    A create is not rolled back on request (``back``), since that deletes the stack's resources.
    """
    change = under_way(queue)
    if change is None or change.action not in CANCELLABLE:
        raise NotSupportedError(
            f"Cancelling update when stack is {stack.action}_{stack.status} is not supported."
            f" {stack.name} has no update or create in progress"
        )
    if back and change.action is Action.CREATE:
        raise NotSupportedError(
            "Cancelling update when stack is CREATE_IN_PROGRESS is not supported. Cancel the create"
            f" of {stack.name} without rollback, or delete the stack"
        )
    return change


def require_same_cancellable(
    inside: TransactionReader, *, stack: Stack, expected: str, back: bool
) -> None:
    """Raise ActionInProgressError if the operation to cancel is no longer the expected one."""
    if cancellable(live(inside, stack), inside.queue(stack.id), back=back).id != expected:
        raise ActionInProgressError(
            f"another update of the stack {stack.name} was accepted in the meantime; cancel again"
        )


def most_stacks(limits: Limits, caller: Caller) -> int | None:
    """Return the number of stacks that the caller's project may have; None for no limit."""
    most = limits.stacks_per_project
    return None if caller.is_admin or most < 0 else most


def require_room(count: int, most: int) -> None:
    """Raise LimitExceededError if a project has as many stacks as it may have."""
    if count >= most:
        raise LimitExceededError(
            f"You have reached the maximum stacks per tenant, {most}. Delete stacks of this project"
        )


def require_room_for_stack(
    inside: TransactionReader, *, limits: Limits, caller: Caller, new: int = 1
) -> None:
    """Raise LimitExceededError if the caller's project may not have this number of new stacks."""
    if (most := most_stacks(limits, caller)) is not None:
        require_room(inside.count_stacks(caller.project_id) + new - 1, most)


def require_new_token(inside: TransactionReader, *, caller: Caller) -> None:
    """Raise AlreadyExistsError if a request with the client's token is recorded already."""
    if (client := caller.client) is None:
        return
    found = inside.request_with_token(caller.project_id, client.text)
    if found is not None:
        raise token_taken(client, found)


def token_taken(client: ClientToken, found: RequestWithToken) -> AlreadyExistsError:
    """Return the error for a token that was used before."""
    return AlreadyExistsError(
        f"The client request token {client.text} belongs to another request, about the stack"
        f" {found.stack.name}; choose a new one for each request",
        TOKEN_EXISTS,
    )


_LESS_DATA = "Send less data, or keep it in the object store and send its address"


def signal_size(limits: Limits, name: str, details: Mapping[str, Any]) -> int:
    """Return the size of a signal as JSON, in bytes.

    Raises LimitExceededError above ``max_signal_size``.
    """
    size = len(dumps(details).encode(errors="replace"))
    if size > limits.signal_bytes:
        raise LimitExceededError(
            f"The signal to {name} has {size} bytes, the limit is {limits.signal_bytes}"
            f" (max_signal_size). {_LESS_DATA}"
        )
    return size


def require_resource(inside: TransactionReader, *, row: Resource) -> None:
    """Raise NotFoundError if the row of a resource was deleted."""
    if not inside.has_resource(row.id):
        raise NotFoundError(f"{row.name} has been deleted in the meantime", RESOURCE_NOT_FOUND)


def require_room_for_signal(
    inside: TransactionReader, *, limits: Limits, row: Resource, size: int
) -> None:
    """Raise LimitExceededError if ``size`` more bytes exceed a limit of the resource or stack."""
    known = inside.signals_of(row.id)
    if known.count >= limits.signals_per_resource:
        raise LimitExceededError(
            f"{row.name} already has {limits.signals_per_resource} signals, the limit for a"
            " resource"
        )
    if known.size + size > limits.signals_bytes_per_resource:
        raise LimitExceededError(
            f"The signals to {row.name} would have {known.size + size} bytes together, the limit"
            f" is {limits.signals_bytes_per_resource} (max_signals_size_per_resource). {_LESS_DATA}"
        )
    together = inside.signals_size_of_stack(row.stack_id) + size
    if together > limits.values_bytes_per_stack:
        raise LimitExceededError(
            f"The signals to the resources of this stack would have {together} bytes together, the"
            f" limit is {limits.values_bytes_per_stack} (max_values_size_per_stack). {_LESS_DATA}"
        )


async def require_own_objects(ports: Ports, stack: Stack, parts: Sequence[SnapshotPart]) -> None:
    """Raise NotSupportedError if a restore would write into an object of another resource.

    A resource that was moved here from another stack since may have the name of one that the
    snapshot contains.
    """
    tree = await recorded(ports, stack)
    for part in parts:
        found = tree.find(tuple(part.path))
        if found is not None and "stack" in found[1].origin and found[1].id != part.row_id:
            raise NotSupportedError(
                f"{'/'.join(part.path)} has been moved here from another stack since the snapshot,"
                " which contains another object under this name. Rename or move it before the"
                " restore, which would overwrite its data"
            )
