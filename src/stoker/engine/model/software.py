"""What the engine needs of the store to keep software configs and deployments."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Protocol

from stoker.engine.model.records import Resource
from stoker.engine.model.requests import Page
from stoker.schema.software import NO_SOFTWARE as NO_SOFTWARE
from stoker.schema.software import Deployment, SoftwareConfig
from stoker.schema.software import SoftwareChange as SoftwareChange


class SoftwareReads(Protocol):
    """Reads of configs and deployments. A project of None searches all."""

    async def config(self, project_id: str | None, config_id: str) -> SoftwareConfig | None:
        """One config."""

    async def configs(self, project_id: str, ids: Iterable[str]) -> Mapping[str, SoftwareConfig]:
        """Those of the configs that there are, by id."""

    async def list_configs(self, project_id: str | None, page: Page) -> Sequence[SoftwareConfig]:
        """Configs without their content, oldest first."""

    async def deployment(self, project_id: str | None, deployment_id: str) -> Deployment | None:
        """One deployment."""

    async def list_deployments(
        self, project_id: str | None, server_id: str | None, page: Page
    ) -> Sequence[Deployment]:
        """Deployments, to one server or to all, oldest first."""

    async def deployed(self, project_id: str, server_id: str) -> Sequence[SoftwareConfig]:
        """The configs of a server's deployments, oldest first."""

    async def standing_for(self, project_id: str, physical_id: str) -> Sequence[Resource]:
        """The resources of a project's live stacks that stand for an object."""

    async def projects_of_users(self, user_project_id: str) -> Sequence[str]:
        """The projects of the live stacks whose users are in a project of the user domain."""


class KeepsSoftware(Protocol):
    """A store with software configs and deployments."""

    @property
    def software(self) -> SoftwareReads:
        """What reads them."""


class SoftwareInside(Protocol):
    """Reads of guards; see :class:`stoker.engine.model.interfaces.TransactionReader`."""

    def deployment(self, deployment_id: str) -> Deployment | None:
        """One deployment, locked."""

    def has_config(self, config_id: str) -> bool:
        """Return whether there is a config; it is locked."""

    def is_deployed(self, config_id: str) -> bool:
        """Return whether a deployment refers to a config; ask first whether there is the config."""

    def count_configs(self, project_id: str) -> int:
        """How many configs a project has."""

    def count_deployments(self, project_id: str) -> int:
        """How many deployments a project has."""

    def software_size(self, project_id: str) -> int:
        """Return the bytes of a project's configs and deployments.

        Other guards that ask for them wait until the transaction ends.
        """
