"""Roles, and the roles that they imply."""

from typing import Any

from starlette.requests import Request
from starlette.routing import BaseRoute

from localcloud.core.store import Document
from localcloud.identity.api.resource import Kind, Resource, Rules
from localcloud.identity.model import policy
from localcloud.identity.model.assignments import Assignments
from localcloud.identity.model.directory import Directory
from localcloud.identity.model.fields import DESCRIPTION, DOMAIN, NAME, OPTIONS
from localcloud.identity.model.removal import Removal
from localcloud.web.http import (
    BadRequestError,
    ForbiddenError,
    NotFoundError,
    RequestContext,
    context,
    route,
)

KIND = Kind(
    "role",
    "roles",
    fields=(NAME, DESCRIPTION, DOMAIN, OPTIONS),
    filters=("name", "domain_id"),
    unique_names=True,
)


class Roles:
    """The requests on roles and implied roles."""

    def __init__(self, directory: Directory, assignments: Assignments, removal: Removal) -> None:
        self._directory = directory
        self._assignments = assignments
        rules = Rules(
            lists=policy.lists_domain_objects,
            reads=_reads,
            writes=_writes,
            complete=self._complete,
            remove=removal.role,
            candidates=lambda who, query: [
                role
                for role in directory.roles.values()
                if role["domain_id"] is None or "domain_id" in query
            ],
        )
        self._resource = Resource(directory, directory.roles, KIND, rules)

    def routes(self) -> list[BaseRoute]:
        """Return the routes."""
        one = "/v3/roles/{id}/implies/{implied_id}"
        return [
            *self._resource.routes(),
            route("GET", "/v3/role_inferences", self._inferences),
            route("GET", "/v3/roles/{id}/implies", self._list_implied),
            route("GET", one, self._show_implied),
            route("PUT", one, self._imply, 201),
            route("DELETE", one, self._cease),
        ]

    async def _inferences(self, request: Request) -> Document:
        policy.require(policy.reads_all(context(request)), "list_role_inference_rules")
        found = [self._inference(role) for role in self._directory.roles.values()]
        return {"role_inferences": [each for each in found if each["implies"]]}

    async def _list_implied(self, request: Request) -> Document:
        role = self._resource.get(request, "list_implied_by", _reads)
        return {"role_inference": self._inference(role)}

    async def _show_implied(self, request: Request) -> Document:
        prior, implied = self._pair(request)
        self._existing(prior, implied)
        return self._rule(prior, implied)

    async def _imply(self, request: Request) -> Document:
        prior, implied = self._pair(request)
        policy.require(_writes(context(request), prior), "create_implied_role")
        if implied["domain_id"] is not None and prior["domain_id"] != implied["domain_id"]:
            raise ForbiddenError("A global role cannot imply a role of a domain.")
        reached = self._assignments.with_implied([implied["id"]])
        names = {role["name"] for role in map(self._directory.roles.get, reached) if role}
        if "admin" in names or (names & policy.CLOUD_ROLES and not context(request).is_admin):
            raise ForbiddenError("A role that counts in the whole cloud cannot be implied.")
        if prior["id"] in reached:
            raise BadRequestError("A role cannot imply itself, directly or through others.")
        rule = {"prior_id": prior["id"], "implied_id": implied["id"]}
        self._directory.implied_roles.put({"id": f"{prior['id']}:{implied['id']}", **rule})
        return self._rule(prior, implied)

    async def _cease(self, request: Request) -> None:
        prior, implied = self._pair(request)
        policy.require(_writes(context(request), prior), "delete_implied_role")
        self._directory.implied_roles.delete(self._existing(prior, implied))

    def _pair(self, request: Request) -> tuple[Document, Document]:
        prior = self._resource.get(request, "get_implied", _reads)
        return prior, self._directory.role(request.path_params["implied_id"])

    def _existing(self, prior: Document, implied: Document) -> str:
        key = f"{prior['id']}:{implied['id']}"
        if key not in self._directory.implied_roles:
            raise NotFoundError(f"The role '{prior['id']}' does not imply '{implied['id']}'.")
        return key

    def _rule(self, prior: Document, implied: Document) -> dict[str, Any]:
        path = f"roles/{prior['id']}/implies/{implied['id']}"
        return {
            "role_inference": {
                "prior_role": self._resource.presented(prior),
                "implies": self._resource.presented(implied),
            },
            "links": {"self": self._directory.url(path)},
        }

    def _inference(self, prior: Document) -> dict[str, Any]:
        rules = self._directory.implied_roles.find(prior_id=prior["id"])
        return {
            "prior_role": self._resource.presented(prior),
            "implies": [
                self._resource.presented(self._directory.role(rule["implied_id"])) for rule in rules
            ],
        }

    def _complete(self, who: RequestContext, body: Document) -> Document:
        domain_id = body.get("domain_id")
        if domain_id is not None:
            self._directory.require_domain(domain_id)
        return {"description": None, "domain_id": None, "options": {}, **body}


def _reads(who: RequestContext, role: Document) -> bool:
    if policy.reads_all(who):
        return True
    return role["domain_id"] in {None, who.domain_id} and policy.lists_domain_objects(who)


def _writes(who: RequestContext, role: Document) -> bool:
    own = role["domain_id"] is not None and policy.manages_domain(who, role["domain_id"])
    return who.is_admin or own
