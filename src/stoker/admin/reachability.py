"""Checks that the database and the identity service of a configuration can be used.

Nothing is started, and nothing is written. Each problem is a sentence that starts with the option
at fault, as ``[group] option``.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator
from pathlib import Path
from typing import TYPE_CHECKING

import sqlalchemy as sa

from stoker.identity.keystone import Keystone
from stoker.identity.settings import IdentitySettings, settings_from
from stoker.kernel.clock import SystemClock
from stoker.kernel.errors import RequestError, UnavailableError
from stoker.kernel.values import replace
from stoker.store.sql import postgresql
from stoker.store.sql.databases import engine_for
from stoker.store.sql.foreign import UnusableDatabaseError, require_supported

if TYPE_CHECKING:
    import httpx
    from oslo_config.cfg import ConfigOpts

_TIMEOUT_SECONDS = 10.0
# Service types of our own APIs, each with the option that replaces the catalog's entry.
_ENDPOINTS = {
    "orchestration": "[clients_heat] url",
    "cloudformation": "[DEFAULT] heat_metadata_server_url",
}


def problems_of(conf: ConfigOpts, transport: httpx.AsyncBaseTransport | None = None) -> list[str]:
    """Return the problems found. ``transport`` replaces the network in tests."""
    settings = replace(settings_from(conf), timeout=_TIMEOUT_SECONDS)
    identity = asyncio.run(_identity_problems(settings, transport))
    return [*_database_problems(conf.database.connection), *identity]


def _database_problems(connection: str | None) -> list[str]:
    if not connection:
        return []
    try:
        url = require_supported(connection)
        if url.get_backend_name() == "sqlite":
            return _file_problems(url.database)
        engine = engine_for(url)
        try:
            with postgresql.telling_where(url), engine.connect() as opened:
                opened.execute(sa.select(1))
        finally:
            engine.dispose()
    except (UnusableDatabaseError, sa.exc.SQLAlchemyError) as error:
        return [f"[database] connection cannot be used: {error}"]
    return []


def _file_problems(name: str | None) -> list[str]:
    directory = Path(name or ".").parent
    if os.access(directory, os.W_OK):
        return []
    reason = "is not writable" if directory.is_dir() else "does not exist"
    return [f"[database] connection is a file in {directory}, which {reason}"]


async def _identity_problems(
    settings: IdentitySettings, transport: httpx.AsyncBaseTransport | None
) -> list[str]:
    keystone = Keystone(settings, SystemClock(), transport)
    try:
        return [problem async for problem in _found_by(keystone, settings)]
    finally:
        await keystone.close()


async def _found_by(keystone: Keystone, settings: IdentitySettings) -> AsyncIterator[str]:
    user = settings.service_user
    try:
        grant = await keystone.grant_of(user)
    except UnavailableError as error:
        yield f"[keystone_authtoken] auth_url ({settings.api_url}) does not answer: {error}"
        return
    except RequestError:
        yield (
            f'[keystone_authtoken] password is wrong, or the user "{user.name}" or its project'
            f' "{user.project_name}" does not exist'
        )
        return
    for service_type, option in _ENDPOINTS.items():
        replaced = {
            "orchestration": settings.orchestration_url,
            "cloudformation": settings.metadata_url,
        }[service_type]
        found = replaced or grant.endpoint(service_type, settings.interface, settings.region)
        if not found:
            yield (
                f"{option} is not set, and the catalog has no {settings.interface} endpoint of type"
                f" {service_type} in region {settings.region or '(any)'}: servers cannot send"
                f" signals. Create one: openstack endpoint create {service_type}"
                f" {settings.interface} URL"
            )
    async for problem in _stack_domain_problems(keystone, settings):
        yield problem


async def _stack_domain_problems(
    keystone: Keystone, settings: IdentitySettings
) -> AsyncIterator[str]:
    admin = settings.stack_domain_admin
    if admin is None:
        yield (
            "[DEFAULT] stack_domain_admin is not set, or there is no stack_user_domain_name: wait"
            " conditions, software deployments and scaling policies cannot be created"
        )
        return
    try:
        await keystone.grant_of(admin)
    except RequestError:
        yield (
            f'[DEFAULT] stack_domain_admin_password is wrong, or the user "{admin.name}" has no'
            " role in the domain of stack users"
        )
        return
    name = settings.stack_user_role
    answer = await keystone.call(settings.service_user, "GET", "/roles", params={"name": name})
    if answer.is_error:
        yield (
            f'[keystone_authtoken] username "{settings.service_user.name}" may not list roles'
            f" (HTTP {answer.status_code}): give it the role admin or service"
        )
    elif not answer.json().get("roles"):
        yield (
            f'[DEFAULT] heat_stack_user_role names the role "{name}", which does not exist. Create'
            f" it: openstack role create {name}"
        )
