"""Identities and addresses: tokens and endpoints from Keystone."""

from __future__ import annotations

import asyncio
import json
import secrets
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx

from tests.conformance.runner.masking import fixed_masks


@dataclass(frozen=True, slots=True)
class Identity:
    """A user with a token for a project, and the endpoints that the catalog names."""

    user: str
    user_id: str
    project_id: str
    token: str
    endpoint: str
    cfn_endpoint: str
    access: str = ""
    secret: str = ""


@dataclass(frozen=True, slots=True)
class Account:
    """Credentials of an identity."""

    user: str
    password: str
    project: str


class Cloud:
    """A cloud with the service under test in its catalog. Logs each identity in once."""

    def __init__(self, client: httpx.AsyncClient, credentials: Path) -> None:
        content: dict[str, Any] = json.loads(credentials.read_text(encoding="utf-8"))
        users = content["users"]
        self.client = client
        self.auth_url: str = content["auth_url"]
        self._region: str = content.get("region") or ""
        user, admin = (
            Account(name, users[name]["password"], users[name]["project"])
            for name in ("demo", "admin")
        )
        self._accounts = {
            "user": user,
            "admin": admin,
            "admin_in_project": Account(admin.user, admin.password, user.project),
        }
        self._identities: dict[str, Identity] = {}
        self._lock = asyncio.Lock()
        self._run = "".join(secrets.choice("bcdfghjkmnpqrstvwxz") for _ in range(5))
        self._named = 0

    @property
    def password(self) -> str:
        """The password of the ordinary user."""
        return self._accounts["user"].password

    def new_name(self) -> str:
        """Return an unused stack name."""
        self._named += 1
        # a 0 keeps names from looking like the suffix of a physical name
        return f"zq{self._run}0{self._named:04d}y"

    def masks(self) -> list[tuple[str, str]]:
        """Return the texts that identities add to answers."""
        known: list[tuple[str | None, str]] = [(self.auth_url, "<auth_url>")]
        for identity in self._identities.values():
            known += [
                (identity.endpoint, "<endpoint>"),
                (identity.cfn_endpoint, "<cfn_endpoint>"),
                (identity.project_id, "<project_id>"),
                (identity.user_id, "<user_id>"),
                (identity.access, "<ec2_access>"),
            ]
        return fixed_masks(known)

    async def identity(self, who: str) -> Identity:
        """The identity of a role in the cases: ``user``, ``admin`` or ``admin_in_project``."""
        async with self._lock:
            if who not in self._identities:
                self._identities[who] = await self._log_in(self._accounts[who])
            return self._identities[who]

    async def _log_in(self, account: Account) -> Identity:
        domain = {"id": "default"}
        user = {"name": account.user, "domain": domain, "password": account.password}
        body = {
            "auth": {
                "identity": {"methods": ["password"], "password": {"user": user}},
                "scope": {"project": {"name": account.project, "domain": domain}},
            }
        }
        answer = await self.client.post(f"{self.auth_url}/auth/tokens", json=body)
        answer.raise_for_status()
        token = answer.json()["token"]
        headers = {"X-Auth-Token": answer.headers["X-Subject-Token"]}
        project = token["project"]["id"]
        url = f"{self.auth_url}/users/{token['user']['id']}/credentials/OS-EC2"
        made = await self.client.post(url, headers=headers, json={"tenant_id": project})
        key = made.json()["credential"] if made.is_success else {}
        return Identity(
            account.user,
            token["user"]["id"],
            project,
            headers["X-Auth-Token"],
            self._endpoint(token, "orchestration").rsplit("/", 1)[0],
            self._endpoint(token, "cloudformation"),
            key.get("access", ""),
            key.get("secret", ""),
        )

    def _endpoint(self, token: dict[str, Any], service: str) -> str:
        for entry in token["catalog"]:
            if entry["type"] == service:
                public = [each for each in entry["endpoints"] if each["interface"] == "public"]
                public.sort(key=lambda each: each.get("region") != self._region)
                return str(public[0]["url"]).rstrip("/")
        raise LookupError(f'the catalog has no service of the type "{service}"')
