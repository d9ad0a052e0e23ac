"""Tokens of Keystone's version 3 API, and the requests for them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from http import HTTPStatus
from typing import TYPE_CHECKING, Any

from stoker.identity.settings import User
from stoker.kernel.errors import UNAVAILABLE, RequestError

if TYPE_CHECKING:
    import httpx


@dataclass(frozen=True, slots=True)
class Grant:
    """A token and its content."""

    token: str = field(repr=False)
    body: Mapping[str, Any] = field(repr=False)
    expires_at: float  # seconds since the epoch

    @property
    def user_id(self) -> str:
        """Return the id of the user."""
        return str(self.body["user"]["id"])

    @property
    def project_id(self) -> str:
        """Return the id of the project; empty for other scopes."""
        return str(self.body.get("project", {}).get("id", ""))

    @property
    def domain_id(self) -> str:
        """Return the id of the domain; empty for other scopes."""
        return str(self.body.get("domain", {}).get("id", ""))

    @property
    def roles(self) -> list[str]:
        """Return the names of the roles."""
        return [str(role["name"]) for role in self.body.get("roles", ())]

    def endpoint(self, service_type: str, interface: str, region: str | None) -> str | None:
        """Return the URL of a service in the token's catalog, or None."""
        for service in self.body.get("catalog", ()):
            if service.get("type") != service_type:
                continue
            for endpoint in service.get("endpoints", ()):
                here = region is None or endpoint.get("region") == region
                if here and endpoint.get("interface") == interface:
                    return str(endpoint["url"])
        return None


def unavailable(detail: str) -> RequestError:
    """Return the error (503) for an unusable response from Keystone."""
    return RequestError(out_of_order(detail), UNAVAILABLE)


def out_of_order(detail: str) -> str:
    """Return the text of an error: Keystone is out of order, and why."""
    return f"The identity service cannot be used: {detail}."


def read_grant(token: str, content: Any) -> Grant:
    """Return the grant in a response. Raise RequestError (503) for a malformed one."""
    try:
        body = content["token"]
        expires_at = datetime.fromisoformat(body["expires_at"]).timestamp()
        str(body["user"]["id"])
    except (KeyError, TypeError, ValueError) as error:
        raise unavailable(f"its token has no {error}") from error
    return Grant(token, body, expires_at)


def granted(response: httpx.Response) -> Grant | None:
    """Return the grant in the response to an authentication request, or None if it was refused."""
    if response.status_code not in (HTTPStatus.OK, HTTPStatus.CREATED):
        return None
    return read_grant(response.headers.get("X-Subject-Token", ""), json_of(response))


def json_of(response: httpx.Response) -> Any:
    """Return the JSON of a response. Raise RequestError (503) if there is none."""
    try:
        return response.json()
    except ValueError as error:
        raise unavailable("its answer is not JSON") from error


def by_password(user: User, scope: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """Return the request for a user's token, with the user's own scope by default."""
    who = {"name": user.name, "domain": _named(user.domain_id, user.domain_name)}
    return _request(who, user.password, scope or _scope_of(user))


def by_user_id(user_id: str, password: str, project_id: str) -> dict[str, Any]:
    """Return the request for a project token of a user who is known by id."""
    return _request({"id": user_id}, password, project_scope(project_id))


def project_scope(project_id: str) -> dict[str, Any]:
    """Return the project scope of a token."""
    return {"project": {"id": project_id}}


def trust_scope(trust_id: str) -> dict[str, Any]:
    """Return the trust scope of a token."""
    return {"OS-TRUST:trust": {"id": trust_id}}


def _request(
    who: Mapping[str, Any], password: str, scope: Mapping[str, Any] | None
) -> dict[str, Any]:
    user = {**who, "password": password}
    auth: dict[str, Any] = {"identity": {"methods": ["password"], "password": {"user": user}}}
    if scope is not None:
        auth["scope"] = scope
    return {"auth": auth}


def _scope_of(user: User) -> dict[str, Any] | None:
    if user.scope_domain_id or user.scope_domain_name:
        return {"domain": _named(user.scope_domain_id, user.scope_domain_name)}
    if user.project_name is None:
        return None
    domain = _named(user.project_domain_id, user.project_domain_name)
    return {"project": {"name": user.project_name, "domain": domain}}


def _named(id_: str | None, name: str | None) -> dict[str, str]:
    return {"id": id_} if id_ else {"name": name or "Default"}
