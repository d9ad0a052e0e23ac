"""The list of all role assignments, as granted or with all their effects."""

from collections.abc import Iterator
from typing import Any

from msgspec.structs import replace
from starlette.datastructures import QueryParams
from starlette.requests import Request
from starlette.routing import BaseRoute

from localcloud.core.store import Document
from localcloud.identity.model import policy
from localcloud.identity.model.assignments import Assignments, Grant
from localcloud.identity.model.directory import Directory
from localcloud.web.http import RequestContext, boolean, context, route


class RoleAssignments:
    """The request for role assignments."""

    def __init__(self, directory: Directory, assignments: Assignments) -> None:
        self._directory = directory
        self._assignments = assignments

    def routes(self) -> list[BaseRoute]:
        """Return the route."""
        return [route("GET", "/v3/role_assignments", self._list)]

    async def _list(self, request: Request) -> Document:
        who, query = context(request), request.query_params
        policy.require(policy.lists_domain_objects(who), "list_role_assignments")
        effective = "effective" in query and boolean(query["effective"])
        names = "include_names" in query and boolean(query["include_names"])
        grants: Iterator[Grant] = self._effective() if effective else self._assignments.all()
        found = [
            self._shown(grant, names)
            for grant in dict.fromkeys(grants)
            if self._visible(who, grant) and self._matches(grant, query)
        ]
        return {"role_assignments": found, "links": self._directory.links("role_assignments")}

    def _visible(self, who: RequestContext, grant: Grant) -> bool:
        if policy.reads_all(who):
            return True
        if grant.target_type == "domain":
            return grant.target_id == who.domain_id
        project = self._directory.projects.get(grant.target_id)
        return project is not None and project["domain_id"] == who.domain_id

    def _effective(self) -> Iterator[Grant]:
        """Yield the grants of users that result from groups, inheritance and implied roles."""
        for grant in self._assignments.all():
            for direct in self._for_members(grant):
                for reached in self._where_it_counts(direct):
                    for role_id in self._assignments.with_implied([reached.role_id]):
                        role = self._directory.roles.get(role_id)
                        if role is not None and role["domain_id"] is None:
                            yield replace(reached, role_id=role_id)

    def _for_members(self, grant: Grant) -> Iterator[Grant]:
        if grant.actor_type == "user":
            yield grant
            return
        for membership in self._directory.memberships.find(group_id=grant.actor_id):
            yield replace(grant, actor_type="user", actor_id=membership["user_id"])

    def _where_it_counts(self, grant: Grant) -> Iterator[Grant]:
        if not grant.inherited:
            yield grant
            return
        for project in self._directory.projects.values():
            if self._assignments.covers(grant, project["id"]):
                yield replace(
                    grant, target_type="project", target_id=project["id"], inherited=False
                )

    def _matches(self, grant: Grant, query: QueryParams) -> bool:
        members = {"user.id": "user", "group.id": "group"}
        for name, actor_type in members.items():
            if name in query and (actor_type, query[name]) != (grant.actor_type, grant.actor_id):
                return False
        if "role.id" in query and query["role.id"] != grant.role_id:
            return False
        if "scope.OS-INHERIT:inherited_to" in query and not grant.inherited:
            return False
        return self._in_scope(grant, query)

    def _in_scope(self, grant: Grant, query: QueryParams) -> bool:
        if "scope.system" in query:
            return grant.target_type == "system"
        if "scope.domain.id" in query:
            return (grant.target_type, grant.target_id) == ("domain", query["scope.domain.id"])
        if "scope.project.id" not in query:
            return True
        project_ids = {query["scope.project.id"]}
        if "include_subtree" in query and boolean(query["include_subtree"]):
            project_ids |= {p["id"] for p in self._directory.descendants(query["scope.project.id"])}
        return grant.target_type == "project" and grant.target_id in project_ids

    def _shown(self, grant: Grant, names: bool) -> dict[str, Any]:
        role = self._directory.roles.get(grant.role_id) or {"id": grant.role_id}
        actor = (
            self._directory.user(grant.actor_id)
            if grant.actor_type == "user"
            else self._directory.group(grant.actor_id)
        )
        scope: dict[str, Any] = {"system": {"all": True}}
        if grant.target_type != "system":
            target = self._directory.project(grant.target_id)
            scope = {grant.target_type: self._named(target, names)}
        if grant.inherited:
            scope["OS-INHERIT:inherited_to"] = "projects"
        return {
            "role": self._named(role, names),
            grant.actor_type: self._named(actor, names),
            "scope": scope,
            "links": {"assignment": self._directory.url(_path(grant))},
        }

    def _named(self, document: Document, names: bool) -> dict[str, Any]:
        found: dict[str, Any] = {"id": document["id"]}
        if names:
            found["name"] = document.get("name")
            domain = self._directory.domains.get(document.get("domain_id") or "")
            if domain is not None:
                found["domain"] = {"id": domain["id"], "name": domain["name"]}
        return found


def _path(grant: Grant) -> str:
    target = (
        "system" if grant.target_type == "system" else f"{grant.target_type}s/{grant.target_id}"
    )
    path = f"{target}/{grant.actor_type}s/{grant.actor_id}/roles/{grant.role_id}"
    return f"OS-INHERIT/{path}/inherited_to_projects" if grant.inherited else path
