"""Software configs and deployments, for a caller.

They belong to a project. Each change is checked in the transaction that records it. If the
deployment belongs to a resource, the driver of its stack is notified.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from msgspec import structs

from stoker.engine.execution.calls.server_metadata import deployments_of, publish
from stoker.engine.model.interfaces import Key, Ports, PublicChange, TransactionReader
from stoker.engine.model.requests import Caller, Page
from stoker.engine.service.signals.reports import MOST_TRIES, ConcurrentUpdateError
from stoker.kernel.errors import (
    INVALID_RESTRICTED_ACTION,
    NOT_FOUND,
    LimitExceededError,
    NotFoundError,
    ValidationError,
)
from stoker.kernel.json.tree import weigh
from stoker.kernel.values import replace
from stoker.schema.software import (
    Deployment,
    SoftwareConfig,
    checked_inputs,
    checked_outputs,
)


class Software:
    """Configs and deployments of a caller's project; admins may name those of any project."""

    def __init__(self, ports: Ports) -> None:
        self._ports = ports
        self._store = ports.store

    async def create_config(self, caller: Caller, fields: Mapping[str, Any]) -> SoftwareConfig:
        """Record a config from its fields. Raises ValidationError for malformed inputs."""
        config = SoftwareConfig(
            id=self._ports.ids.uuid(),
            project_id=caller.project_id,
            created_at=self._ports.clock.now(),
            name=fields.get("name"),
            group=fields.get("group"),
            config=fields.get("config"),
            inputs=checked_inputs(fields.get("inputs") or ()),
            outputs=checked_outputs(fields.get("outputs") or ()),
            options=fields.get("options") or {},
        )
        most = self._ports.limits.configs_per_project

        def guard(inside: TransactionReader) -> None:
            _require_room(caller, "configs", inside, most)
            self._require_bytes(caller, inside, config)

        await self._ports.store.commit(PublicChange("", puts=(config,), guards=(guard,)))
        return config

    async def config(self, caller: Caller, config_id: Any) -> SoftwareConfig:
        """Return a config. Raises NotFoundError."""
        found = None
        if isinstance(config_id, str):
            found = await self._store.software_config(_scope(caller), config_id)
        if found is None:
            raise _no_config(config_id)
        return found

    async def configs(
        self, caller: Caller, page: Page, *, all_projects: bool
    ) -> Sequence[SoftwareConfig]:
        """Return the configs of the project, or of all projects, without their contents."""
        return await self._store.list_software_configs(
            None if all_projects else caller.project_id, page
        )

    async def delete_config(self, caller: Caller, config_id: str) -> None:
        """Delete a config. Raises ValidationError if deployments refer to it."""
        await self.config(caller, config_id)

        def guard(inside: TransactionReader) -> None:
            if not inside.has_config(config_id):
                raise _no_config(config_id)
            if inside.is_deployed(config_id):
                raise ValidationError(
                    f"Software config with id {config_id} can not be deleted as it is referenced."
                    " Delete the deployments that refer to it first",
                    INVALID_RESTRICTED_ACTION,
                )

        await self._ports.store.commit(
            PublicChange("", drops=(Key(SoftwareConfig, config_id),), guards=(guard,))
        )

    async def create_deployment(self, caller: Caller, fields: Mapping[str, Any]) -> Deployment:
        """Record a deployment from its fields."""
        config = await self.config(caller, fields.get("config_id"))
        deployment = Deployment(
            id=self._ports.ids.uuid(),
            project_id=caller.project_id,
            created_at=self._ports.clock.now(),
            config_id=config.id,
            server_id=fields["server_id"],
            action=fields.get("action"),
            status=fields.get("status"),
            reason=fields.get("reason"),
            input_values=fields.get("input_values") or {},
        )
        most = self._ports.limits.deployments_per_project

        def guard(inside: TransactionReader) -> None:
            _require_room(caller, "deployments", inside, most)
            self._require_bytes(caller, inside, deployment)
            _require_config(inside, config.id)

        await self._ports.store.commit(PublicChange("", puts=(deployment,), guards=(guard,)))
        await publish(self._ports, deployment.project_id, deployment.server_id)
        return deployment

    async def deployment(self, caller: Caller, deployment_id: str) -> Deployment:
        """Return a deployment. Raises NotFoundError."""
        found = await self._store.deployment(_scope(caller), deployment_id)
        if found is None:
            raise _no_deployment(deployment_id)
        return found

    async def deployments(
        self, caller: Caller, server_id: str | None, page: Page
    ) -> Sequence[Deployment]:
        """Return the deployments of the caller's project, to one server or to all."""
        return await self._store.list_deployments(caller.project_id, server_id, page)

    async def update_deployment(
        self, caller: Caller, deployment_id: str, changes: Mapping[str, Any]
    ) -> Deployment:
        """Change fields of a deployment, and notify the server and the stack that wait for it."""
        if "config_id" in changes:
            await self.config(caller, changes["config_id"])
        for _ in range(MOST_TRIES):
            known = await self.deployment(caller, deployment_id)
            changed = replace(known, **changes, updated_at=self._ports.clock.now())

            def guard(
                inside: TransactionReader, known: Deployment = known, new: Deployment = changed
            ) -> None:
                if inside.deployment(known.id) != known:
                    raise ConcurrentUpdateError
                if new.config_id != known.config_id:
                    _require_config(inside, new.config_id)
                self._require_bytes(caller, inside, new)

            try:
                change = PublicChange(known.stack_id or "", puts=(changed,), guards=(guard,))
                await self._ports.store.commit(change)
            except ConcurrentUpdateError:
                continue
            await publish(self._ports, known.project_id, known.server_id)
            return changed
        raise LimitExceededError(
            f"{deployment_id} is being changed too often at once; send it again"
        )

    async def delete_deployment(self, caller: Caller, deployment_id: str) -> None:
        """Delete a deployment."""
        known = await self.deployment(caller, deployment_id)

        def guard(inside: TransactionReader) -> None:
            if inside.deployment(deployment_id) is None:
                raise _no_deployment(deployment_id)

        dropped = Key(Deployment, deployment_id)
        change = PublicChange(known.stack_id or "", drops=(dropped,), guards=(guard,))
        await self._ports.store.commit(change)
        await publish(self._ports, known.project_id, known.server_id)

    async def metadata(self, caller: Caller, server_id: str) -> Sequence[SoftwareConfig]:
        """Return the configs of a server's deployments, in their order.

        A stack user only sees those of the server that it was created for.
        """
        project_id = caller.project_id
        if caller.is_stack_user:
            owner = await self._owner_of(caller, server_id)
            if owner is None:
                return ()
            project_id = owner
        return await deployments_of(self._ports, project_id, server_id)

    async def _owner_of(self, caller: Caller, server_id: str) -> str | None:
        """Return the project of a server if the stack user was created for it, or None."""
        for project_id in await self._store.projects_of_users(caller.project_id):
            for row in await self._store.resources_of_object(project_id, server_id):
                if row.data.get("user_id") == caller.user_id:
                    return project_id
        return None

    def _require_bytes(
        self, caller: Caller, inside: TransactionReader, new: SoftwareConfig | Deployment
    ) -> None:
        """Raise LimitExceededError if the new record exceeds the project's limit of bytes."""
        most = self._ports.limits.software_bytes_per_project
        if caller.is_admin or most < 0:
            return
        _, _, octets = weigh(structs.asdict(new), octets=most, keys=True)
        size = inside.software_of(new.project_id).size_bytes + octets
        if size > most:
            raise LimitExceededError(
                f"The software configs and deployments of this project would have {size} bytes"
                f" together, the limit is {most} (max_software_size_per_tenant). Delete some of"
                " them"
            )


def _scope(caller: Caller) -> str | None:
    return None if caller.is_admin else caller.project_id


def _require_room(caller: Caller, records: str, inside: TransactionReader, most: int) -> None:
    if caller.is_admin or most < 0:
        return
    if getattr(inside.software_of(caller.project_id), records) >= most:
        raise LimitExceededError(
            f"You have reached the maximum software {records} per tenant, {most}. Delete some of"
            " this project"
        )


def _require_config(inside: TransactionReader, config_id: str) -> None:
    if not inside.has_config(config_id):
        raise _no_config(config_id)


def _no_config(config_id: Any) -> NotFoundError:
    return NotFoundError(f"Software config with id {str(config_id)[:255]} not found", NOT_FOUND)


def _no_deployment(deployment_id: str) -> NotFoundError:
    return NotFoundError(f"Deployment with id {deployment_id[:255]} not found", NOT_FOUND)
