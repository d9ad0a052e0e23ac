"""What servers tell of deployments: recorded with its event, if nothing has come in between."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from stoker.engine.execution.calls.build import build_call, with_software
from stoker.engine.execution.session import StackRows
from stoker.engine.model.interfaces import Ports, PublicChange, TransactionReader
from stoker.engine.model.records import Action, Event, Input, Resource, Status
from stoker.engine.model.transitions import Transitions
from stoker.kernel.values import replace
from stoker.schema.resource_type import Deploys, ResourceType, can
from stoker.schema.software import SoftwareChange
from stoker.template.versions import CFN

MOST_TRIES = 50
"""How often a change is made again because another process has made one meanwhile."""


class ConcurrentUpdateError(Exception):
    """What a change was judged by is not as it was."""


async def report(
    stack_rows: StackRows, row: Resource, type_: ResourceType, details: Mapping[str, Any]
) -> None:
    """Record what a server tells of a deployment; what nobody waits for is only an event.

    Raises :class:`ConcurrentUpdateError` if the deployment has changed meanwhile.
    """
    assert can(type_, Deploys)
    ports = stack_rows.ports
    call = await with_software(stack_rows, row, type_, build_call(stack_rows, row, type_))
    told, reason = type_.signalled(call, details)
    event = signal_event(ports, row, reason)
    if told is None:
        await ports.store.commit(PublicChange(row.stack_id, events=(event,)))
        # nothing else bounds the events of what is ignored again and again
        await ports.store.tidy(row.stack_id, stack_rows.events_to_keep)
        return

    def guard(inside: TransactionReader) -> None:
        if inside.deployment(told.id) != call.deployment:
            raise ConcurrentUpdateError

    software = SoftwareChange(deployments=(told,))
    change = PublicChange(row.stack_id, events=(event,), software=software, guards=(guard,))
    await ports.store.commit(change)


def signal_event(ports: Ports, row: Resource, reason: str) -> Event:
    """The event of a signal for a resource."""
    told = replace(row, action=Action.SIGNAL, status=Status.COMPLETE, reason=reason)
    return Transitions(ports.clock, ports.ids).event_of(told)


def resting_event(ports: Ports, row: Resource) -> Event:
    """The event of a signal for a resource that takes none, as its stack is suspended."""
    told = replace(row, reason="Cannot signal resource during SUSPEND")
    return Transitions(ports.clock, ports.ids).event_of(told)


def has_creation_policy(given: Input, name: str) -> bool:
    """Return whether the template has a resource of that name wait for signals."""
    written = (given.template.get(CFN.resources) or {}).get(name)
    return isinstance(written, Mapping) and bool(written.get(CFN.creation_policy))
