"""Handles one signal to one resource, by its kind.

Takes a signal whose sender and size are checked. There are four kinds, and :func:`handler_of`
chooses between them:

- a hook release clears a hook that the resource is waiting at (any type of resource);
- a deployment report is the result of a software deployment (see ``reports``);
- an operation signal starts an operation: a scaling, a restart, or a run of a workflow;
- a wait signal is stored for resources that wait for it.

Each handler reads its rows and writes one change, or raises and writes only an event. Called by
``SignalService``. Tested by tests/operations/test_operations.py, test_reactions.py and
test_walks.py, tests/hooks, tests/scaling and tests/software.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from functools import partial
from typing import Any, NoReturn

from stoker.engine.execution.calls.build import build_call
from stoker.engine.execution.calls.hooks import release_details, releases_of, stands_at
from stoker.engine.model.interfaces import PublicChange, TransactionReader
from stoker.engine.model.kinds import ReactRequest, Request, RestartRequest, ScaleRequest
from stoker.engine.model.records import UNSET_HOOK, Action, Resource, Stack, StoredSignal
from stoker.engine.service.signals.received import ReceivedSignal
from stoker.engine.service.signals.reports import (
    ConcurrentUpdateError,
    report_deployment,
    signal_event,
    suspended_event,
)
from stoker.engine.service.stack_access.guards import (
    is_suspended,
    live,
    require_resource,
    require_room_for_signal,
)
from stoker.kernel.errors import (
    ACTION_NOT_SUPPORTED,
    INVALID_HOOK,
    LimitExceededError,
    NotSupportedError,
    ValidationError,
)
from stoker.schema.resource_type import (
    AdjustsGroup,
    Deploys,
    Reacts,
    ResourceType,
    RestartsResource,
    Signals,
    can,
)
from stoker.template.environment.registry import HOOKS

Handler = Callable[[ReceivedSignal], Awaitable[None]]


class SignalRejectedError(ValidationError):
    """The resource does not accept the body of the signal."""


def handler_of(signal: ReceivedSignal) -> Handler:
    """Choose the handler. Raises ValidationError for a resource that accepts no signals."""
    row, type_ = signal.row, signal.type
    if UNSET_HOOK in signal.details:
        return release_hook
    if can(type_, Deploys):
        return report_deployment
    if not can(type_, Signals):
        raise ValidationError(
            f"{row.name} is a {row.type_name}, which takes no signals", ACTION_NOT_SUPPORTED
        )
    if row.action is Action.DELETE:
        raise ValidationError(f"{row.name} is being deleted and no longer takes signals")
    return store_signal if request_by_signal(row, type_) is None else start_operation


def request_by_signal(row: Resource, type_: ResourceType | None) -> Request | None:
    """Return the operation that a signal to a resource starts; None if it is only stored."""
    if can(type_, AdjustsGroup):
        return ScaleRequest(row.id)
    if can(type_, Reacts):
        return ReactRequest(row.id)
    return RestartRequest(row.id) if can(type_, RestartsResource) else None


async def release_hook(signal: ReceivedSignal) -> None:
    """Store the release of a hook. A second release of the same hook has no effect."""
    hook, name, stack_rows = signal.details[UNSET_HOOK], signal.row.name, signal.stack_rows
    if hook not in HOOKS:
        known = ", ".join(HOOKS)
        raise ValidationError(f'"{str(hook)[:80]}" is not a hook; hooks are {known}', INVALID_HOOK)
    stack_id, ports = stack_rows.stack.id, signal.ports
    changes = [op for op in await ports.store.queue(stack_id) if op.action is not Action.SIGNAL]
    # Rows of replaced objects have the same name, and wait at hooks as well.
    waiting = [
        row
        for row in stack_rows.rows.values()
        if row.name == name and changes and stands_at(row, hook, changes[-1])
    ]
    if not waiting:
        raise ValidationError(
            f"{name} does not stand at the hook {hook}: it has not come there yet, or the hook"
            " is cleared already",
            INVALID_HOOK,
        )
    await stack_rows.load_signals()
    now = ports.clock.now()
    releases = tuple(
        StoredSignal(ports.ids.uuid(), stack_id, row.id, now, release_details(row))
        for row in waiting
        if not releases_of(stack_rows.hook_releases, row)
    )
    if releases:
        await ports.store.commit(PublicChange(stack_id, puts=releases))


async def start_operation(signal: ReceivedSignal) -> None:
    """Record the operation that a signal starts; the end of the operation records its event.

    The accepted details are stored as a signal with the id of the operation, until that ends.
    """
    ports, row, stack = signal.ports, signal.row, signal.stack_rows.stack
    request = request_by_signal(row, signal.type)
    assert request is not None
    if row.action is Action.SUSPEND or (isinstance(request, ScaleRequest) and is_suspended(stack)):
        await _reject_suspended(signal)
    details, _ = await _accept(signal)
    queue = await ports.store.queue(stack.id)
    if len(queue) >= ports.limits.signals_per_resource:
        raise LimitExceededError(
            f"{len(queue)} signals for this stack have not been applied yet; send more later"
        )
    operation = ports.operation_on(stack, Action.SIGNAL, request)
    signals: tuple[StoredSignal, ...] = ()
    if details:
        now = ports.clock.now()
        signals = (StoredSignal(operation.id, stack.id, row.id, now, details),)
    size = signal.size if details else 0
    change = PublicChange(
        stack.id,
        puts=(operation, *signals),
        guards=(
            partial(_require_not_suspended, stack=stack),
            partial(require_resource, row=row),
            partial(require_room_for_signal, limits=ports.limits, row=row, size=size),
        ),
    )
    await ports.store.commit(change)


async def store_signal(signal: ReceivedSignal) -> None:
    """Store a signal for the resources that wait for it, with its event.

    Raises ConcurrentUpdateError if another signal to the resource was stored since this one was
    read: the type checks each signal against those before it.
    """
    ports, row, stack_rows = signal.ports, signal.row, signal.stack_rows
    if row.action is Action.SUSPEND:
        await _reject_suspended(signal)
    await stack_rows.load_signals_of(row.id)
    count = len(stack_rows.signals.get(row.id, ()))
    details, reason = await _accept(signal)
    now = ports.clock.now()
    stored = StoredSignal(ports.ids.uuid(), row.stack_id, row.id, now, details)
    change = PublicChange(
        row.stack_id,
        puts=(await signal_event(ports, stack_rows.stack, row, reason), stored),
        guards=(
            partial(require_resource, row=row),
            partial(_require_count, row=row, count=count),
            partial(require_room_for_signal, limits=ports.limits, row=row, size=signal.size),
        ),
    )
    await ports.store.commit(change)


async def _accept(signal: ReceivedSignal) -> tuple[Mapping[str, Any], str]:
    """Return the details that the resource accepts, and the reason of their event.

    Raises SignalRejectedError, with an event, for details that it does not accept.
    """
    type_ = signal.type
    assert can(type_, Signals)
    call = build_call(signal.stack_rows, signal.row, type_)
    try:
        details = type_.check_signal(call, signal.details)
    except ValidationError as invalid:
        reason = f"Signal refused: {invalid.message}"
        stack = signal.stack_rows.stack
        await signal.record_event(await signal_event(signal.ports, stack, signal.row, reason))
        raise SignalRejectedError(invalid.message) from None
    return details, type_.signal_reason(call, details)


async def _reject_suspended(signal: ReceivedSignal) -> NoReturn:
    stack = signal.stack_rows.stack
    await signal.record_event(await suspended_event(signal.ports, stack, signal.row))
    raise _suspended(stack)


def _require_not_suspended(inside: TransactionReader, *, stack: Stack) -> None:
    if is_suspended(live(inside, stack)):
        raise _suspended(stack)


def _require_count(inside: TransactionReader, *, row: Resource, count: int) -> None:
    if inside.signals_of(row.id).count != count:
        raise ConcurrentUpdateError


def _suspended(stack: Stack) -> NotSupportedError:
    return NotSupportedError(
        f"Signal resource during SUSPEND is not supported. Resume {stack.name} first"
    )
