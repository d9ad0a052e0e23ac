"""Signs people in at Keystone for the console, with their own credentials."""

from __future__ import annotations

import re
from collections.abc import Mapping
from http import HTTPStatus
from typing import Any

from stoker.engine.model.sign_ins import (
    PersonView,
    ProjectChoice,
    ProjectView,
    RegionView,
    SignedToken,
)
from stoker.identity.callers import IsAdmin, credentials_of
from stoker.identity.grants import Grant, by_password, json_of, project_scope, read_grant
from stoker.identity.keystone import Keystone
from stoker.identity.settings import User
from stoker.identity.tokens import Authenticator, is_token
from stoker.kernel.errors import RequestError
from stoker.kernel.logs.log import Log

log = Log(__name__)

_ID = re.compile("[0-9a-f]{32}|[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")
_SERVICE = "orchestration"


class KeystoneSignIns:
    """Tokens of people; see :class:`stoker.engine.model.sign_ins.SignIns`."""

    def __init__(self, keystone: Keystone, authenticator: Authenticator, is_admin: IsAdmin) -> None:
        self._keystone = keystone
        self._authenticator = authenticator
        self._is_admin = is_admin

    async def by_password(
        self, user: str, password: str, domain: str, choice: ProjectChoice | None
    ) -> SignedToken | None:
        """Return a token for a name and a password.

        The password is checked without a scope first, so that a wrong project cannot be
        distinguished from a project of others.
        """
        request = by_password(User(user, password, domain_name=domain))
        if choice is not None:
            request["auth"]["scope"] = "unscoped"
        grant = await self._keystone.authenticate(request)
        return None if grant is None else await self._in_project(grant, choice)

    async def by_application_credential(self, id_: str, secret: str) -> SignedToken | None:
        """Return a token for an application credential, in the project of the credential."""
        method = "application_credential"
        identity = {"methods": [method], method: {"id": id_, "secret": secret}}
        grant = await self._keystone.authenticate({"auth": {"identity": identity}})
        return None if grant is None else _signed(grant)

    async def by_token(self, token: str, choice: ProjectChoice | None) -> SignedToken | None:
        """Return the token itself if it is for a project and none is chosen, or else a new one."""
        grant = await self._validated(token)
        return None if grant is None else await self._in_project(grant, choice)

    async def describe(self, token: str) -> PersonView | None:
        """Return the user of a token, or None if the token is no longer valid."""
        grant = await self._validated(token)
        if grant is None:
            return None
        project = grant.body.get("project", {})
        settings = self._keystone.settings
        return PersonView(
            id=grant.user_id,
            name=str(grant.body["user"].get("name", "")),
            project_id=grant.project_id,
            project_name=str(project.get("name", "")),
            roles=tuple(grant.roles),
            is_admin=await self._is_admin(credentials_of(grant)),
            projects=tuple(await self._projects(grant)),
            regions=tuple(_regions(grant, settings.interface)),
            own_region=settings.region or "",
        )

    async def revoke(self, token: str) -> None:
        """Revoke a token. This process stops accepting it even if Keystone does not respond."""
        self._authenticator.forget(token)
        try:
            headers = {"X-Subject-Token": token}
            await self._keystone.request("DELETE", "/auth/tokens", token=token, headers=headers)
        except RequestError as error:
            log.warning("a token was not revoked; it is valid until it expires", reason=str(error))

    async def _validated(self, token: str) -> Grant | None:
        """Return the content of a token. Its own rights are enough to read it."""
        if not is_token(token):
            return None
        headers = {"X-Subject-Token": token}
        response = await self._keystone.request("GET", "/auth/tokens", token=token, headers=headers)
        if response.status_code != HTTPStatus.OK:
            return None
        return read_grant(token, json_of(response))

    async def _in_project(self, grant: Grant, choice: ProjectChoice | None) -> SignedToken | None:
        if choice is not None:
            scopes = _scopes_of(choice)
        elif grant.project_id:
            return _signed(grant)
        else:
            scopes = [project_scope(project.id) for project in (await self._projects(grant))[:1]]
            if not scopes:
                return _signed(grant)
        for scope in scopes:
            scoped = await self._keystone.authenticate(_by_token(grant.token, scope))
            if scoped is not None:
                return _signed(scoped)
        return None

    async def _projects(self, grant: Grant) -> list[ProjectView]:
        """Return the projects of a user, by name; those of restricted tokens may be hidden."""
        response = await self._keystone.request("GET", "/auth/projects", token=grant.token)
        found = [_project(grant.body["project"])] if grant.project_id else []
        if response.status_code == HTTPStatus.OK:
            listed = json_of(response).get("projects", ())
            found = [_project(each) for each in listed if each.get("enabled", True)] or found
        return sorted(found, key=lambda project: (project.name, project.id))


def _scopes_of(choice: ProjectChoice) -> list[dict[str, Any]]:
    """Return the scopes that a choice may mean, the likely one first."""
    named = {"project": {"name": choice.project, "domain": {"name": choice.domain}}}
    scopes = [named, project_scope(choice.project)]
    return scopes[::-1] if _ID.fullmatch(choice.project) else scopes


def _by_token(token: str, scope: Mapping[str, Any]) -> dict[str, Any]:
    identity = {"methods": ["token"], "token": {"id": token}}
    return {"auth": {"identity": identity, "scope": scope}}


def _signed(grant: Grant) -> SignedToken:
    return SignedToken(grant.token, grant.expires_at)


def _project(body: Mapping[str, Any]) -> ProjectView:
    domain_id = body.get("domain_id") or body.get("domain", {}).get("id") or ""
    return ProjectView(str(body["id"]), str(body.get("name", "")), str(domain_id))


def _regions(grant: Grant, interface: str) -> list[RegionView]:
    """Return the regions of the token's catalog with an orchestration service, by name."""
    found = {
        str(endpoint.get("region") or ""): str(endpoint.get("url") or "")
        for service in grant.body.get("catalog", ())
        if service.get("type") == _SERVICE
        for endpoint in service.get("endpoints", ())
        if endpoint.get("interface") == interface
    }
    return [RegionView(name, url) for name, url in sorted(found.items())]
