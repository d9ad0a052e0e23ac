"""Conditions on a stack in the transaction that records a request about it.

The evaluation of a request takes a while, and others are accepted meanwhile, by this process or by
another. So the conditions are checked again inside the transaction.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from stoker.engine.model.client_tokens import Asked, ClientToken
from stoker.engine.model.interfaces import Guard, TransactionReader
from stoker.engine.model.limits import Limits
from stoker.engine.model.records import (
    CANCELLABLE,
    Action,
    Queued,
    Resource,
    Stack,
    Status,
    under_way,
)
from stoker.engine.model.requests import Caller
from stoker.engine.service.stack_access.shared_values import require_not_imported
from stoker.kernel.errors import (
    TOKEN_EXISTS,
    ActionInProgressError,
    AlreadyExistsError,
    LimitExceededError,
    NotFoundError,
    NotSupportedError,
)
from stoker.kernel.json_text import dumps


class AlreadyDoneError(Exception):
    """The stack is, or is being brought, where a request wants it."""


def live(inside: TransactionReader, stack: Stack) -> Stack:
    """The stack as it is now. Raises NotFoundError if it has been deleted."""
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
    """Return whether a delete is under way, has been asked for, or is done."""
    deleting = stack.action is Action.DELETE and stack.status is not Status.FAILED
    return deleting or stack.requested is Action.DELETE


def require_updatable(stack: Stack) -> None:
    """Raise NotSupportedError for a stack that is being deleted or rests, ActionInProgressError
    while it wakes.
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


def require_deletable(inside: TransactionReader, stack: Stack) -> None:
    """Raise NotSupportedError for a stack that is, or is nested in one that is, protected, and
    for one
    whose exports others import.
    """
    require_not_imported(inside, stack)
    if inside.protection(stack.root_id or stack.id).keeps:
        raise NotSupportedError(
            f"Stack [{stack.name}] cannot be deleted while TerminationProtection is enabled"
        )


def is_in_review(stack: Stack) -> bool:
    """Return whether nothing of the stack exists yet but its change sets."""
    return (stack.action, stack.requested) == (Action.INIT, None)


def require_made(stack: Stack) -> None:
    """Raise NotSupportedError for a stack that only has change sets."""
    if is_in_review(stack):
        raise NotSupportedError(
            f"Stack {stack.name} is in REVIEW_IN_PROGRESS state: execute a change set that creates"
            " it, or delete it"
        )


def is_suspended(stack: Stack) -> bool:
    """Return whether some of its resources rest, or are about to."""
    return (stack.requested or stack.action) is Action.SUSPEND


def require_awake(stack: Stack) -> None:
    """Raise NotSupportedError for a stack that rests: its resources are not as they should be."""
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


def _busy(stack: Stack, action: Action) -> str:
    return f"Stack {stack.name} already has an action ({action}) in progress; wait for its end"


def refuse_second_delete(stack: Stack) -> None:
    """Raise AlreadyDoneError for a stack that is being deleted."""
    if is_deleting(stack):
        raise AlreadyDoneError


def cancellable(stack: Stack, queue: Sequence[Queued], *, back: bool) -> Queued:
    """The update, or create, that is in progress. Raises NotSupportedError where there is none.

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


def most_stacks(limits: Limits, caller: Caller) -> int | None:
    """Return the most stacks that the caller's project may have; None for any number."""
    most = limits.stacks_per_project
    return None if caller.is_admin or most < 0 else most


def require_room(count: int, most: int) -> None:
    """Raise LimitExceededError for a project that has all the stacks that it may have."""
    if count >= most:
        raise LimitExceededError(
            f"You have reached the maximum stacks per tenant, {most}. Delete stacks of this project"
        )


def token_is_unused(caller: Caller) -> Guard:
    """Return a guard that raises AlreadyExistsError if a request has the caller's client token."""
    client = caller.client

    def guard(inside: TransactionReader) -> None:
        if client is None:
            return
        found = inside.asked(caller.project_id, client.text)
        if found is not None:
            raise token_taken(client, found)

    return guard


def token_taken(client: ClientToken, found: Asked) -> AlreadyExistsError:
    """The refusal of a token that was used before."""
    return AlreadyExistsError(
        f"The client request token {client.text} belongs to another request, about the stack"
        f" {found.stack.name}; choose a new one for each request",
        TOKEN_EXISTS,
    )


_LESS_DATA = "Send less data, or keep it in the object store and send its address"


def signal_size(limits: Limits, name: str, details: Mapping[str, Any]) -> int:
    """The bytes of a signal as JSON. Raises LimitExceededError beyond the limit of one signal."""
    size = len(dumps(details).encode(errors="replace"))
    if size > limits.signal_bytes:
        raise LimitExceededError(
            f"The signal to {name} has {size} bytes, the limit is {limits.signal_bytes}"
            f" (max_signal_size). {_LESS_DATA}"
        )
    return size


def require_room_for_signal(
    inside: TransactionReader, limits: Limits, row: Resource, size: int
) -> None:
    """Raise LimitExceededError if a signal of ``size`` bytes exceeds a limit of resource or
    stack.
    """
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
