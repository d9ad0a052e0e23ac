"""The initial content of a cloud: domains, projects, users, roles, the catalog.

Each object is looked up by name and created only if it is missing, so that this runs at each start.
Passwords are random per data directory and kept in ``credentials.json``. That file is written
first: otherwise a crash would leave users with unknown passwords.
"""

import copy
import secrets
from collections.abc import Iterable
from typing import Any

from localcloud.core.cloud import LazyService
from localcloud.core.store import Collection, Document
from localcloud.identity.api.services import INTERFACES
from localcloud.identity.model.accounts import (
    ACCOUNTS,
    STACK_DOMAIN,
    Account,
    known_passwords,
    write_credentials,
)
from localcloud.identity.model.assignments import Grant
from localcloud.identity.model.directory import DEFAULT_DOMAIN, Directory, new_id
from localcloud.identity.tokens.passwords import hashed

_PROJECTS = ("admin", "demo", "service")
_ROLES = ("admin", "manager", "member", "reader", "service", "heat_stack_owner", "heat_stack_user")
_IMPLIED = (("admin", "manager"), ("manager", "member"), ("member", "reader"))
_ROLE: Document = {"description": None, "options": {}}
_DOMAIN: Document = {"description": "", "enabled": True, "options": {}, "tags": []}
_PROJECT: Document = {**_DOMAIN, "parent_id": DEFAULT_DOMAIN, "is_domain": False}
_FOREIGN_NAMES = {
    "orchestration": "stoker",
    "cloudformation": "stoker-cfn",
    "cloudwatch": "stoker-cloudwatch",
}


def bootstrap(directory: Directory, services: Iterable[LazyService]) -> None:
    """Create the missing objects of a cloud and its credentials file."""
    known = known_passwords(directory.settings)
    passwords = {a.name: known.get(a.name) or secrets.token_hex(16) for a in ACCOUNTS}
    write_credentials(directory.settings, passwords)
    with directory.store.transaction():
        for domain_id, name in ((DEFAULT_DOMAIN, "Default"), (STACK_DOMAIN, STACK_DOMAIN)):
            _ensure(directory.domains, {"id": domain_id}, {"name": name, **_DOMAIN})
        projects = {
            name: _ensure(directory.projects, {"domain_id": DEFAULT_DOMAIN, "name": name}, _PROJECT)
            for name in _PROJECTS
        }
        roles = {
            name: _ensure(directory.roles, {"name": name, "domain_id": None}, _ROLE)
            for name in _ROLES
        }
        for prior, implied in _IMPLIED:
            rule = {"prior_id": roles[prior], "implied_id": roles[implied]}
            _ensure(directory.implied_roles, {"id": ":".join(rule.values())}, rule)
        for account in ACCOUNTS:
            fresh = None if account.name in known else passwords[account.name]
            _ensure_account(directory, account, passwords[account.name], fresh, projects, roles)
        _ensure_catalog(directory, services)


def _ensure(collection: Collection, key: dict[str, Any], rest: Document) -> str:
    for document in collection.find(**key):
        return str(document["id"])
    document = copy.deepcopy({"id": new_id(), **rest, **key})
    collection.put(document)
    return str(document["id"])


def _ensure_account(
    directory: Directory,
    account: Account,
    password: str,
    reset: str | None,
    projects: dict[str, str],
    roles: dict[str, str],
) -> None:
    found = next(directory.users.find(domain_id=account.domain, name=account.name), None)
    if found is None or reset is not None:
        user = found or {"id": new_id(), "name": account.name, "domain_id": account.domain}
        project = {"default_project_id": projects[account.project]} if account.project else {}
        defaults = {"enabled": True, "options": {}, **project}
        found = {**defaults, **user, "password_hash": hashed(password)}
        directory.users.put(found)
    for target_type, target, role in account.grants:
        target_id = projects[target] if target_type == "project" else target
        grant = Grant("user", found["id"], target_type, target_id, roles[role])
        if grant.id not in directory.assignments:
            directory.assignments.put(grant.document())


def _ensure_catalog(directory: Directory, services: Iterable[LazyService]) -> None:
    settings = directory.settings
    region = {"description": "", "parent_region_id": None}
    _ensure(directory.regions, {"id": settings.region}, region)
    for service in services:
        url = settings.url + service.endpoint
        for type_ in (service.type, *service.other_types):
            name = service.name if type_ == service.type else f"{service.name}-{type_}"
            _ensure_endpoints(directory, type_, name, url)
    for foreign in settings.foreign_services:
        name = _FOREIGN_NAMES.get(foreign.type, foreign.type)
        _ensure_endpoints(directory, foreign.type, name, foreign.url)


def _ensure_endpoints(directory: Directory, type_: str, name: str, url: str) -> None:
    service = {"description": "", "enabled": True}
    service_id = _ensure(directory.services, {"type": type_, "name": name}, service)
    region = directory.settings.region
    for interface in INTERFACES:
        key = {"service_id": service_id, "interface": interface, "region_id": region}
        endpoint_id = _ensure(directory.endpoints, key, {"url": url, "enabled": True})
        endpoint = directory.endpoints.get(endpoint_id)
        if endpoint is not None and endpoint["url"] != url:
            directory.endpoints.put({**endpoint, "url": url})
