"""Projects, their tags, and their tree."""

from collections.abc import Iterable
from typing import Any

from starlette.datastructures import QueryParams
from starlette.requests import Request
from starlette.routing import BaseRoute

from localcloud.core.store import Document
from localcloud.identity.api.project_tags import checked_tags, has_tags, reads, tag_routes, writes
from localcloud.identity.api.resource import Kind, Resource, Rules, shown
from localcloud.identity.model import policy
from localcloud.identity.model.directory import Directory
from localcloud.identity.model.fields import DESCRIPTION, DOMAIN, ENABLED, OPTIONS, Field
from localcloud.identity.model.removal import Removal
from localcloud.web.http import (
    BadRequestError,
    ForbiddenError,
    Handler,
    NotFoundError,
    RequestContext,
    boolean,
    context,
    fixed,
    route,
)

KIND = Kind(
    "project",
    "projects",
    fields=(
        Field("name", required=True, longest=64),
        DESCRIPTION,
        ENABLED,
        OPTIONS,
        DOMAIN,
        Field("parent_id", fixed=True),
        Field("is_domain", bool, nullable=False, fixed=True),
        Field("tags", list, nullable=False, longest=80),
    ),
    filters=("name", "domain_id", "parent_id", "enabled", "is_domain"),
    unique_names=True,
)
_DEPTH_LIMIT = 5


class Projects:
    """The requests on projects. Domains are shown as projects too if the request asks for them."""

    def __init__(self, directory: Directory, removal: Removal) -> None:
        self._directory = directory
        self._removal = removal
        rules = Rules(
            lists=policy.lists_domain_objects,
            reads=reads,
            writes=writes,
            complete=self._complete,
            change=self._change,
            remove=self._remove,
            candidates=self._candidates,
            find=self._find,
        )
        self._resource = Resource(directory, directory.projects, KIND, rules)

    def routes(self) -> list[BaseRoute]:
        """Return the routes, including those of tags."""
        return [
            *tag_routes(self._directory, self._resource),
            route("GET", "/v3/projects/{id}", self._show),
            *self._resource.routes(),
        ]

    async def _show(self, request: Request) -> Document:
        project = self._resource.get(request, "get", reads)
        body = self._resource.presented(project)
        query = request.query_params
        parents, children = self._directory.ancestors(project), None
        if {"subtree_as_list", "subtree_as_ids"} & query.keys():
            children = self._directory.descendants(project["id"])
        if "parents_as_list" in query:
            body["parents"] = [{"project": shown(self._directory, KIND, p)} for p in parents]
        elif "parents_as_ids" in query:
            body["parents"] = _chain([p["id"] for p in parents])
        if "subtree_as_list" in query:
            body["subtree"] = [{"project": shown(self._directory, KIND, p)} for p in children or ()]
        elif "subtree_as_ids" in query:
            body["subtree"] = _tree(children or [], project["id"])
        return {"project": body}

    def _find(self, key: str) -> Document | None:
        known = key in self._directory.projects or key in self._directory.domains
        return self._directory.project(key) if known else None

    def _candidates(self, who: RequestContext, query: QueryParams) -> Iterable[Document]:
        directory = self._directory
        if boolean(query.get("is_domain", "false")):
            found = [directory.project(domain["id"]) for domain in directory.domains.values()]
        else:
            found = list(directory.projects.values())
        return [project for project in found if has_tags(project, query)]

    def _complete(self, who: RequestContext, body: Document) -> Document:
        if body.get("is_domain"):
            raise BadRequestError("A project that acts as a domain is made by POST /v3/domains.")
        parent_id = body.get("parent_id")
        domain_id = body.get("domain_id") or self._domain_for(who, parent_id)
        self._directory.require_domain(domain_id)
        self._check_parent(parent_id or domain_id, domain_id)
        return {
            "description": "",
            "enabled": True,
            "options": {},
            **body,
            "domain_id": domain_id,
            "parent_id": parent_id or domain_id,
            "is_domain": False,
            "tags": checked_tags(body.get("tags", [])),
        }

    def _domain_for(self, who: RequestContext, parent_id: str | None) -> str:
        parent = self._directory.projects.get(parent_id or "")
        if parent is not None:
            return str(parent["domain_id"])
        return parent_id or who.domain_id or who.project_domain_id or who.user_domain_id

    def _check_parent(self, parent_id: str, domain_id: str) -> None:
        if parent_id == domain_id:
            return
        parent = self._directory.projects.get(parent_id)
        if parent is None:
            raise NotFoundError(f"There is no project '{parent_id}'.")
        if parent["domain_id"] != domain_id:
            raise BadRequestError("A project must be in the domain of its parent.")
        if not parent["enabled"]:
            raise ForbiddenError("The parent project is disabled.")
        if len(self._directory.ancestors(parent)) + 2 >= _DEPTH_LIMIT:
            raise ForbiddenError(f"Projects may be nested {_DEPTH_LIMIT} deep, domain included.")

    def _change(self, who: RequestContext, old: Document, changes: Document) -> Document:
        if old["is_domain"]:
            raise ForbiddenError("A project that acts as a domain is changed by PATCH /v3/domains.")
        if "tags" in changes:
            checked_tags(changes["tags"])
        children = self._directory.descendants(old["id"])
        if changes.get("enabled") is False and any(child["enabled"] for child in children):
            raise ForbiddenError("A project with enabled projects below it cannot be disabled.")
        return {**old, **changes}

    def _remove(self, project: Document) -> None:
        if project["is_domain"]:
            raise ForbiddenError(
                "A project that acts as a domain is deleted by DELETE /v3/domains."
            )
        if self._directory.descendants(project["id"]):
            raise ForbiddenError("A project with projects below it cannot be deleted.")
        self._removal.project(project)


def _chain(ids: list[str]) -> dict[str, Any] | None:
    return {ids[0]: _chain(ids[1:])} if ids else None


def _tree(projects: list[Document], parent_id: str) -> dict[str, Any] | None:
    below = [project["id"] for project in projects if project["parent_id"] == parent_id]
    return {key: _tree(projects, key) for key in below} or None


_LIMIT_MODEL = {"name": "flat", "description": "Limits are not nested: each project has its own."}


def limit_routes(directory: Directory) -> list[BaseRoute]:
    """Return the routes of unified limits. The cloud has none."""
    return [
        route("GET", "/v3/limits/model", fixed({"model": _LIMIT_MODEL})),
        route("GET", "/v3/limits", _empty_list(directory, "limits")),
        route("GET", "/v3/registered_limits", _empty_list(directory, "registered_limits")),
    ]


def _empty_list(directory: Directory, plural: str) -> Handler:
    """Return the handler of a list that is always empty."""

    async def handle(request: Request) -> Document:
        policy.require(bool(context(request).roles), f"list_{plural}")
        return {plural: [], "links": directory.links(plural)}

    return handle
