"""The users of a new cloud, and the files with their passwords.

``credentials.json`` is for programs; ``clouds.yaml`` contains the same for OpenStack clients:
``OS_CLIENT_CONFIG_FILE=.../clouds.yaml OS_CLOUD=demo openstack token issue``.
"""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from msgspec import Struct

from localcloud.core.settings import Settings
from localcloud.identity.model.assignments import SYSTEM
from localcloud.identity.model.directory import DEFAULT_DOMAIN

STACK_DOMAIN = "stoker"


class Account(Struct, frozen=True):
    """A user of a new cloud, with its grants as triples of target type, target name and role."""

    name: str
    domain: str
    project: str | None
    grants: tuple[tuple[str, str, str], ...]


ACCOUNTS = (
    Account("admin", DEFAULT_DOMAIN, "admin", (
        ("project", "admin", "admin"),
        ("project", "demo", "admin"),
        ("domain", DEFAULT_DOMAIN, "admin"),
        ("system", SYSTEM, "admin"),
    )),
    Account("demo", DEFAULT_DOMAIN, "demo", (
        ("project", "demo", "member"),
        ("project", "demo", "heat_stack_owner"),
    )),
    Account("stoker", DEFAULT_DOMAIN, "service", (
        ("project", "service", "admin"),
        ("project", "service", "service"),
    )),
    Account("stoker_domain_admin", STACK_DOMAIN, None, (("domain", STACK_DOMAIN, "admin"),)),
)  # fmt: skip


def known_passwords(settings: Settings) -> dict[str, str]:
    """Return the passwords in ``credentials.json`` by user, {} if there is no such file."""
    path = _credentials(settings)
    if not path.exists():
        return {}
    users = json.loads(path.read_text())["users"]
    return {name: str(user["password"]) for name, user in users.items()}


def write_credentials(settings: Settings, passwords: Mapping[str, str]) -> None:
    """Write both files, readable only by their owner."""
    auth_url = f"{settings.url}/identity/v3"
    users = {
        account.name: {
            "password": passwords[account.name],
            "project": account.project,
            "domain": account.domain,
        }
        for account in ACCOUNTS
    }
    content = {"auth_url": auth_url, "region": settings.region, "users": users}
    _write(_credentials(settings), content)
    clouds = {
        account.name: {
            "auth": {
                "auth_url": auth_url,
                "username": account.name,
                "password": passwords[account.name],
                "user_domain_id": account.domain,
                **_scope(account),
            },
            "region_name": settings.region,
            "identity_api_version": 3,
        }
        for account in ACCOUNTS
    }
    _write(settings.cloud_dir / "clouds.yaml", {"clouds": clouds})


def _scope(account: Account) -> dict[str, str]:
    if account.project is None:
        return {"domain_id": account.domain}
    return {"project_name": account.project, "project_domain_id": account.domain}


def _credentials(settings: Settings) -> Path:
    return settings.cloud_dir / "credentials.json"


def _write(path: Path, content: Mapping[str, Any]) -> None:
    """Replace the file atomically. JSON is also YAML."""
    fresh = path.with_name(f"{path.name}.new")
    fresh.unlink(missing_ok=True)
    fresh.touch(mode=0o600)
    fresh.write_text(json.dumps(content, indent=2) + "\n")
    fresh.replace(path)
