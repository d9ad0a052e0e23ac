"""Records deployment reports from servers.

A report and its event are written together, unless another report arrived first. A report that no
deployment waits for is only an event.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial

from stoker.engine.execution.calls.build import build_call, with_software
from stoker.engine.model.interfaces import Ports, PublicChange, TransactionReader
from stoker.engine.model.records import Action, Event, Input, Resource, Stack, Status
from stoker.engine.model.secrets import masked_event
from stoker.engine.model.transitions import Transitions
from stoker.engine.planning.stack_secrets import masking_at
from stoker.engine.service.signals.received import ReceivedSignal
from stoker.kernel.values import replace
from stoker.schema.resource_type import Deploys, can
from stoker.schema.software import Deployment
from stoker.template.versions import CFN

MOST_TRIES = 50  # attempts at a change that conflicts with changes of other processes


class ConcurrentUpdateError(Exception):
    """Another process changed the rows that a change was based on."""


async def report_deployment(signal: ReceivedSignal) -> None:
    """Record the result of a deployment, with its event.

    Raises :class:`ConcurrentUpdateError` if the deployment was changed since it was read.
    """
    ports, row, type_ = signal.ports, signal.row, signal.type
    assert can(type_, Deploys)
    call = build_call(signal.stack_rows, row, type_)
    call = await with_software(signal.stack_rows, row, type_, call)
    deployment, reason = type_.signalled(call, signal.details)
    event = await signal_event(ports, signal.stack_rows.stack, row, reason)
    if deployment is None:
        await signal.record_event(event)
        return
    check = partial(_require_same, deployment_id=deployment.id, expected=call.deployment)
    change = PublicChange(row.stack_id, puts=(event, deployment), guards=(check,))
    await ports.store.commit(change)


def _require_same(
    inside: TransactionReader, *, deployment_id: str, expected: Deployment | None
) -> None:
    if inside.deployment(deployment_id) != expected:
        raise ConcurrentUpdateError


async def signal_event(ports: Ports, stack: Stack, row: Resource, reason: str) -> Event:
    """Return the event of a signal to a resource."""
    signalled = replace(row, action=Action.SIGNAL, status=Status.COMPLETE, reason=reason)
    event = Transitions(ports.clock, ports.ids).event_of(signalled)
    return masked_event(event, await masking_at(ports, stack, [row]))


async def suspended_event(ports: Ports, stack: Stack, row: Resource) -> Event:
    """Return the event of a signal to a resource that accepts none because it is suspended."""
    rejected = replace(row, reason="Cannot signal resource during SUSPEND")
    event = Transitions(ports.clock, ports.ids).event_of(rejected)
    return masked_event(event, await masking_at(ports, stack, [row]))


def has_creation_policy(stack_input: Input, name: str) -> bool:
    """Return whether the template lets a resource of that name wait for signals."""
    written = (stack_input.template.get(CFN.resources) or {}).get(name)
    return isinstance(written, Mapping) and bool(written.get(CFN.creation_policy))
