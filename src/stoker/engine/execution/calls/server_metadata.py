"""Metadata of servers: that of their resources, with their deployments.

Servers poll this service for their metadata, or read it from a place where it is published.
Deployments to one server may change at the same time, in several processes. Each writer compares
again after its write, so that the last write has all of them. Tested by tests/software.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from stoker.engine.execution.calls.type_caller import TypeCall, bound_call
from stoker.engine.execution.session import Session, StackRows
from stoker.engine.model.interfaces import Ports
from stoker.engine.model.records import Resource, Stack, Status
from stoker.kernel.values import replace
from stoker.schema.resource_type import ManagedType, TakesDeployments, can
from stoker.schema.software import POLLING_METADATA, SoftwareConfig

DEPLOYMENTS = "deployments"  # key of a server's metadata
_MOST_LOOKS = 20
_CANCELLED = "Deployment cancelled."


async def deployments_of(ports: Ports, project_id: str, server_id: str) -> Sequence[SoftwareConfig]:
    """Return the configs of a server's deployments, ordered by name."""
    found = await ports.store.deployed_configs(project_id, server_id)
    return sorted(found, key=lambda config: str(config.name))


async def server_metadata(ports: Ports, stack: Stack, row: Resource) -> Mapping[str, Any]:
    """Return the metadata of a server's row, with its present deployments."""
    known = {**row.metadata, **row.data.get(POLLING_METADATA, {})}
    if row.physical_id is None:
        return known
    configs = await deployments_of(ports, stack.project_id, row.physical_id)
    if not configs:
        return known
    return {**known, DEPLOYMENTS: [config.as_metadata() for config in configs]}


async def publish(ports: Ports, project_id: str, server_id: str) -> None:
    """Publish the deployments of a server, unless it polls this service.

    Raises the errors of the cloud; it is safe to repeat.
    """
    for row in await ports.store.resources_of_object(project_id, server_id):
        stack = await ports.store.stack(row.stack_id)
        if stack is not None:
            await publish_row(StackRows(ports, stack, [row]), row)


async def publish_row(stack_rows: StackRows, row: Resource) -> None:
    """Publish the deployments of the server that a row represents."""
    ports, type_ = stack_rows.ports, stack_rows.type_of(row)
    if not isinstance(type_, ManagedType) or not can(type_, TakesDeployments):
        return
    if not type_.publishes(row.properties):
        return
    published = None
    for _ in range(_MOST_LOOKS):
        metadata = await server_metadata(ports, stack_rows.stack, row)
        if metadata == published:
            return
        work = TypeCall(type_, type_.publish, row.properties)
        call = await bound_call(stack_rows, replace(row, metadata=metadata), work)
        await ports.workers.run(type_.service, call)
        published = metadata


async def cancel_deployments(session: Session, rows: Sequence[Resource]) -> None:
    """Record deployments in progress as failed, because the wait for their servers has ended.

    Raises as :meth:`Session.commit` does.
    """
    store, project_id = session.ports.store, session.stack.project_id
    known = [await store.deployment(project_id, row.physical_id) for row in rows if row.physical_id]
    now = session.ports.clock.now()
    cancelled = tuple(
        replace(found, status=Status.FAILED.value, reason=_CANCELLED, updated_at=now)
        for found in known
        if found is not None and found.status == Status.IN_PROGRESS.value
    )
    if cancelled:
        await session.record(cancelled)
