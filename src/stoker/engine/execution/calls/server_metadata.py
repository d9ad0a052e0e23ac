"""The metadata of servers: those of their resources, with their deployments."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from stoker.engine.model.interfaces import Ports
from stoker.engine.model.records import Resource, Stack
from stoker.schema.software import TOLD, SoftwareConfig

DEPLOYMENTS = "deployments"
"""Key of the metadata of a server."""


async def deployments_of(ports: Ports, project_id: str, server_id: str) -> Sequence[SoftwareConfig]:
    """The configs of a server's deployments, in the order of their names."""
    found = await ports.store.software.deployed(project_id, server_id)
    return sorted(found, key=lambda config: str(config.name))


async def server_metadata(ports: Ports, stack: Stack, row: Resource) -> Mapping[str, Any]:
    """The metadata of a server's row with its deployments as they are now."""
    known = {**row.metadata, **row.data.get(TOLD, {})}
    if row.physical_id is None:
        return known
    configs = await deployments_of(ports, stack.project_id, row.physical_id)
    if not configs:
        return known
    return {**known, DEPLOYMENTS: [config.as_told() for config in configs]}
