"""The rows of software configs and deployments."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, TypeVar

import sqlalchemy as sa

from stoker.engine.model.records import Resource
from stoker.engine.model.requests import Page
from stoker.engine.model.storage.transaction import SoftwareUsage
from stoker.kernel.errors import LimitExceededError
from stoker.kernel.json.text import loads
from stoker.schema.software import Deployment, SoftwareConfig
from stoker.store.read import queries
from stoker.store.read.group_read import Reading
from stoker.store.records.lazy_flush import LazyFlush
from stoker.store.schema import tables
from stoker.store.sql import rows
from stoker.store.sql.encryption import Cipher, plain_size

Result = TypeVar("Result")
_AT_ONCE = 500  # ids in one statement
_MOST_CONTENT = 16 * 1024 * 1024  # stored bytes that one statement reads
_configs, _deployments = tables.software_configs, tables.software_deployments
# Configs without their content, which no list shows.
_LISTED = sa.select(*(column for column in _configs.c if column is not _configs.c.content))


class SqlSoftware(Reading):
    """Configs and deployments in a relational database."""

    async def _found_configs(self, select: sa.Select[Any]) -> list[SoftwareConfig]:
        return await self._read(
            lambda connection: [
                _config(row, self._cipher) for row in rows.dicts(connection.execute(select))
            ]
        )

    async def _found_deployments(self, select: sa.Select[Any]) -> list[Deployment]:
        return await self._read(
            lambda connection: [
                _deployment(row, self._cipher) for row in rows.dicts(connection.execute(select))
            ]
        )

    async def _require_short(self, select: sa.Select[Any], sized: sa.Table) -> None:
        """Raise LimitExceededError for rows whose content is too long for one response."""
        size = sa.select(sa.func.sum(select.with_only_columns(sized.c.size).subquery().c.size))
        found = await self._read(lambda connection: connection.execute(size).scalar_one())
        if found is not None and found > _MOST_CONTENT:
            raise LimitExceededError(
                f"The deployments have more than {_MOST_CONTENT} bytes together, the limit of one"
                " answer; list them in pages, with limit and marker"
            )

    async def software_config(
        self, project_id: str | None, config_id: str
    ) -> SoftwareConfig | None:
        """Return one config."""
        one = sa.select(_configs).where(_configs.c.id == config_id)
        found = await self._found_configs(_of_project(one, _configs, project_id))
        return found[0] if found else None

    async def software_configs(
        self, project_id: str, ids: Iterable[str]
    ) -> Mapping[str, SoftwareConfig]:
        """Return the existing configs among these, by id."""
        sorted_ids, found = sorted(set(ids)), {}
        for begin in range(0, len(sorted_ids), _AT_ONCE):
            some = _configs.c.id.in_(sorted_ids[begin : begin + _AT_ONCE])
            select = _of_project(sa.select(_configs).where(some), _configs, project_id)
            found.update({config.id: config for config in await self._found_configs(select)})
        return found

    async def list_software_configs(
        self, project_id: str | None, page: Page
    ) -> Sequence[SoftwareConfig]:
        """Return the configs without their content, oldest first."""
        listed = _of_project(_LISTED, _configs, project_id)
        return await self._found_configs(queries.in_pages(listed, _configs, page))

    async def deployment(self, project_id: str | None, deployment_id: str) -> Deployment | None:
        """Return one deployment."""
        one = sa.select(_deployments).where(_deployments.c.id == deployment_id)
        found = await self._found_deployments(_of_project(one, _deployments, project_id))
        return found[0] if found else None

    async def list_deployments(
        self, project_id: str | None, server_id: str | None, page: Page
    ) -> Sequence[Deployment]:
        """Return the deployments to one server or to all, oldest first."""
        select = _of_project(sa.select(_deployments), _deployments, project_id)
        if server_id is not None:
            select = select.where(_deployments.c.server_id == server_id)
        select = queries.in_pages(select, _deployments, page)
        await self._require_short(select, _deployments)
        return await self._found_deployments(select)

    async def deployed_configs(self, project_id: str, server_id: str) -> Sequence[SoftwareConfig]:
        """Return the configs of a server's deployments, oldest first."""
        of_server = _deployments.c.project_id == project_id, _deployments.c.server_id == server_id
        select = (
            sa.select(_configs)
            .join(_deployments, _deployments.c.config_id == _configs.c.id)
            .where(*of_server)
            .order_by(_deployments.c.number)
        )
        await self._require_short(select, _configs)
        return await self._found_configs(select)

    async def resources_of_object(self, project_id: str, physical_id: str) -> Sequence[Resource]:
        """Return the resources of a project's live stacks that represent an object."""
        stacks = tables.stacks.c
        live = sa.select(stacks.id).where(
            stacks.project_id == project_id, stacks.deleted_at.is_(None)
        )
        resources = tables.resources.c
        select = sa.select(tables.resources).where(
            resources.stack_id.in_(live), resources.physical_id == physical_id
        )
        return await self._read(
            lambda connection: [
                rows.to_resource(row, self._cipher)
                for row in rows.dicts(connection.execute(select))
            ]
        )

    async def projects_of_users(self, user_project_id: str) -> Sequence[str]:
        """Return the projects of live stacks whose users are in a project of the user domain."""
        stacks = tables.stacks.c
        select = sa.select(stacks.project_id).distinct()
        select = select.where(
            stacks.user_project_id == user_project_id, stacks.deleted_at.is_(None)
        )
        return await self._read(
            lambda connection: [str(found) for found in connection.execute(select).scalars()]
        )


class SoftwareInTransaction(LazyFlush):
    """Software configs and deployments for guards."""

    def deployment(self, deployment_id: str) -> Deployment | None:
        """Return one deployment, locked."""
        one = sa.select(_deployments).where(_deployments.c.id == deployment_id).with_for_update()
        for row in rows.dicts(self._connection.execute(one)):
            return _deployment(row, self._cipher)
        return None

    def has_config(self, config_id: str) -> bool:
        """Return whether there is the row; it is locked."""
        one = sa.select(_configs.c.id).where(_configs.c.id == config_id).with_for_update()
        return self._connection.execute(one).first() is not None

    def is_deployed(self, config_id: str) -> bool:
        """Return whether a deployment refers to the config."""
        one = sa.select(_deployments.c.id).where(_deployments.c.config_id == config_id).limit(1)
        return self._connection.execute(one).first() is not None

    def software_of(self, project_id: str) -> SoftwareUsage:
        """Return the software of a project; lock the project until the commit."""
        queries.lock_project(self._connection, project_id)
        configs, size_of_configs = self._count(_configs, project_id)
        deployments, size_of_deployments = self._count(_deployments, project_id)
        return SoftwareUsage(configs, deployments, size_of_configs + size_of_deployments)

    def _count(self, table: sa.Table, project_id: str) -> tuple[int, int]:
        select = sa.select(sa.func.count(), sa.func.sum(table.c.size))
        count, size = self._connection.execute(select.where(table.c.project_id == project_id)).one()
        return count, plain_size(size)


def _of_project(select: sa.Select[Any], table: sa.Table, project_id: str | None) -> sa.Select[Any]:
    return select if project_id is None else select.where(table.c.project_id == project_id)


def _config(row: rows.Row, cipher: Cipher) -> SoftwareConfig:
    content = cipher.decrypt(row["content"]) if "content" in row else {}
    return SoftwareConfig(
        id=row["id"],
        project_id=row["project_id"],
        created_at=row["created_at"],
        name=loads(row["name"]),
        group=loads(row["group"]),
        **content,
    )


def _deployment(row: rows.Row, cipher: Cipher) -> Deployment:
    state = cipher.decrypt(row["content"])
    unlike = ("number", "content", "size")
    plain = {name: value for name, value in row.items() if name not in unlike}
    return Deployment(**plain, **state)
