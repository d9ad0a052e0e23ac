"""Grants of roles to users and groups, on projects, domains and the system."""

from collections.abc import Callable

from msgspec.structs import replace
from starlette.requests import Request
from starlette.routing import BaseRoute

from localcloud.core.store import Document
from localcloud.identity.api import roles
from localcloud.identity.api.resource import listed
from localcloud.identity.model import policy
from localcloud.identity.model.assignments import SYSTEM, Assignments, Grant
from localcloud.identity.model.directory import Directory
from localcloud.web.http import NotFoundError, RequestContext, context, route

_ACTORS = {"users": "user", "groups": "group"}
_TARGETS = {"projects": "project", "domains": "domain", "system": "system"}


class Grants:
    """The requests on single grants."""

    def __init__(self, directory: Directory, assignments: Assignments) -> None:
        self._directory = directory
        self._assignments = assignments

    def routes(self) -> list[BaseRoute]:
        """Return the routes: a list and the single grants for each kind of target and actor."""
        found: list[BaseRoute] = []
        for actors in _ACTORS:
            found += self._grant_routes(f"/v3/system/{actors}/{{actor_id}}/roles", "")
            for targets in ("projects", "domains"):
                path = f"{targets}/{{target_id}}/{actors}/{{actor_id}}/roles"
                found += self._grant_routes(f"/v3/{path}", "")
                found += self._grant_routes(f"/v3/OS-INHERIT/{path}", "/inherited_to_projects")
        return found

    def _grant_routes(self, many: str, suffix: str) -> list[BaseRoute]:
        one = f"{many}/{{role_id}}{suffix}"
        return [
            route("GET", many + suffix, self._list),
            route("GET", one, self._check),
            route("PUT", one, self._create),
            route("DELETE", one, self._delete),
        ]

    async def _list(self, request: Request) -> Document:
        pattern = self._pattern(request, "list_grants", policy.reads_domain)
        found = [
            self._directory.role(grant.role_id)
            for grant in self._assignments.all()
            if replace(grant, role_id="") == pattern
        ]
        return listed(self._directory, roles.KIND, found, request)

    async def _check(self, request: Request) -> None:
        self._existing(request, "check_grant", policy.reads_domain)

    async def _create(self, request: Request) -> None:
        pattern = self._pattern(request, "create_grant", policy.manages_domain)
        role = self._role(request)
        policy.require(self._may_hand_out(context(request), role), "create_grant")
        self._directory.assignments.put(replace(pattern, role_id=role["id"]).document())

    async def _delete(self, request: Request) -> None:
        grant = self._existing(request, "revoke_grant", policy.manages_domain)
        policy.require(self._may_hand_out(context(request), self._role(request)), "revoke_grant")
        self._directory.assignments.delete(grant.id)

    def _may_hand_out(self, who: RequestContext, role: Document) -> bool:
        """Return whether the caller may grant and revoke the role.

        Administrators of a domain may not handle roles that count beyond it. Managers of a domain
        may only handle those that Keystone lets them manage.
        """
        if who.is_admin:
            return True
        reached = self._assignments.with_implied([role["id"]])
        names = {found["name"] for found in map(self._directory.roles.get, reached) if found}
        if "admin" in who.roles:
            return not names & policy.CLOUD_ROLES
        return names <= policy.MANAGED_ROLES

    def _existing(
        self, request: Request, action: str, allowed: Callable[[RequestContext, str | None], bool]
    ) -> Grant:
        pattern = self._pattern(request, action, allowed)
        grant = replace(pattern, role_id=self._role(request)["id"])
        if grant.id not in self._directory.assignments:
            raise NotFoundError("There is no such role assignment.")
        return grant

    def _role(self, request: Request) -> Document:
        return self._directory.role(request.path_params["role_id"])

    def _pattern(
        self, request: Request, action: str, allowed: Callable[[RequestContext, str | None], bool]
    ) -> Grant:
        """Return the grant in the path, without its role, if the caller is allowed the action."""
        parts = request.url.path.removeprefix("/v3/").split("/")
        inherited = parts[0] == "OS-INHERIT"
        target_type = _TARGETS[parts[1] if inherited else parts[0]]
        actor_type = "user" if "/users/" in request.url.path else "group"
        who, params = context(request), request.path_params
        target_id = params.get("target_id", SYSTEM)
        owner = None
        if target_type == "project":
            owner = self._directory.project(target_id)["domain_id"] or target_id
        elif target_type == "domain":
            owner = self._directory.domain(target_id)["id"]
        policy.require(allowed(who, owner), action)
        actor = self._actor(actor_type, params["actor_id"])
        policy.require(allowed(who, actor["domain_id"]), action)
        return Grant(actor_type, actor["id"], target_type, target_id, "", inherited)

    def _actor(self, actor_type: str, actor_id: str) -> Document:
        if actor_type == "user":
            return self._directory.user(actor_id)
        return self._directory.group(actor_id)
