"""Protocols of the store for software configs and deployments."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Protocol

from stoker.engine.model.records import Resource
from stoker.engine.model.requests import Page
from stoker.engine.model.storage.changes import Key, Software
from stoker.schema.software import NO_SOFTWARE as NO_SOFTWARE
from stoker.schema.software import Deployment, SoftwareConfig
from stoker.schema.software import SoftwareChange as SoftwareChange


def software_records(
    change: SoftwareChange,
) -> tuple[tuple[Software, ...], tuple[Key[Software], ...]]:
    """Return the records and keys of a change. A dropped id is of a deployment or a config."""
    drops: list[Key[Software]] = []
    for id_ in change.dropped:
        drops += [Key(Deployment, id_), Key(SoftwareConfig, id_)]
    return (*change.configs, *change.deployments), tuple(drops)


class SoftwareReads(Protocol):
    """Reads of configs and deployments. A project of None searches all."""

    async def config(self, project_id: str | None, config_id: str) -> SoftwareConfig | None:
        """Return one config."""

    async def configs(self, project_id: str, ids: Iterable[str]) -> Mapping[str, SoftwareConfig]:
        """Return the existing ones of these configs, by id."""

    async def list_configs(self, project_id: str | None, page: Page) -> Sequence[SoftwareConfig]:
        """Return configs without their content, oldest first."""

    async def deployment(self, project_id: str | None, deployment_id: str) -> Deployment | None:
        """Return one deployment."""

    async def list_deployments(
        self, project_id: str | None, server_id: str | None, page: Page
    ) -> Sequence[Deployment]:
        """Return deployments to one server or to all, oldest first."""

    async def deployed(self, project_id: str, server_id: str) -> Sequence[SoftwareConfig]:
        """Return the configs of a server's deployments, oldest first."""

    async def standing_for(self, project_id: str, physical_id: str) -> Sequence[Resource]:
        """Return the resources of a project's live stacks with this physical id."""

    async def projects_of_users(self, user_project_id: str) -> Sequence[str]:
        """Return the projects of live stacks whose stack users are in a project."""
