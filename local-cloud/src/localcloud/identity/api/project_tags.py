"""The tags of projects."""

from typing import Any

from starlette.datastructures import QueryParams
from starlette.requests import Request
from starlette.routing import BaseRoute

from localcloud.core.store import Document
from localcloud.core.tags import FILTERS, Tags
from localcloud.identity.api.resource import Resource
from localcloud.identity.model import policy
from localcloud.identity.model.directory import Directory
from localcloud.web.http import BadRequestError, NotFoundError, RequestContext


def tag_routes(directory: Directory, projects: Resource) -> list[BaseRoute]:
    """Return the routes of the tags of one project."""

    def readable(request: Request) -> Document:
        return projects.get(request, "get", reads)

    def writable(request: Request) -> Document:
        return projects.get(request, "update", writes)

    def put(project: Document, tags: Any) -> list[str]:
        checked = checked_tags(tags)
        collection = directory.domains if project["is_domain"] else directory.projects
        collection.put({**project, "tags": checked})
        return checked

    def shown(project: Document, tags: list[str]) -> Document:
        return {"tags": tags, "links": directory.links(f"projects/{project['id']}/tags")}

    def missing(tag: str) -> NotFoundError:
        return NotFoundError(f"The project has no tag '{tag}'.")

    return Tags("/v3/projects/{id}/tags", readable, writable, put, missing, shown).routes()


def reads(who: RequestContext, project: Document) -> bool:
    """Return whether the caller may see the project."""
    if policy.reads_domain(who, project["domain_id"]) or who.project_id == project["id"]:
        return True
    return bool(project["is_domain"]) and policy.reads_domain(who, project["id"])


def writes(who: RequestContext, project: Document) -> bool:
    """Return whether the caller may change the project."""
    return policy.manages_domain(who, project["domain_id"])


def checked_tags(tags: Any) -> list[str]:
    """Return the tags without duplicates; raises :class:`BadRequestError`."""
    if not isinstance(tags, list) or len(tags) > 80:
        raise BadRequestError("'tags' must be a list of at most 80 tags.")
    for tag in tags:
        if not isinstance(tag, str) or not 0 < len(tag) <= 255 or set(tag) & {"/", ","}:
            raise BadRequestError("A tag must have 1 to 255 characters, without slash and comma.")
    return list(dict.fromkeys(tags))


def has_tags(project: Document, query: QueryParams) -> bool:
    """Return whether the project passes the tag filters of the query."""
    tags = set(project["tags"])
    return all(
        passes(tags, set(query[name].split(",")))
        for name, passes in FILTERS.items()
        if name in query
    )
