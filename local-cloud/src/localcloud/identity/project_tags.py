"""The tags of projects."""

from typing import Any

from starlette.datastructures import QueryParams
from starlette.requests import Request
from starlette.routing import BaseRoute

from localcloud.http import BadRequest, NotFound, RequestContext, read_json, route
from localcloud.identity import policy
from localcloud.identity.directory import Directory
from localcloud.identity.resource import Resource
from localcloud.store import Document


class ProjectTags:
    """The requests on the tags of one project."""

    def __init__(self, directory: Directory, projects: Resource) -> None:
        self._directory = directory
        self._resource = projects

    def routes(self) -> list[BaseRoute]:
        """Return the routes."""
        tags, tag = "/v3/projects/{id}/tags", "/v3/projects/{id}/tags/{tag}"
        return [
            route("GET", tags, self._list_tags),
            route("PUT", tags, self._replace_tags),
            route("DELETE", tags, self._clear_tags),
            route("GET", tag, self._has_tag),
            route("PUT", tag, self._add_tag, 201),
            route("DELETE", tag, self._remove_tag),
        ]

    async def _list_tags(self, request: Request) -> Document:
        project = self._resource.get(request, "get", reads)
        return {"tags": project["tags"], "links": self._tag_links(project)}

    async def _replace_tags(self, request: Request) -> Document:
        tags = checked_tags((await read_json(request)).get("tags"))
        project = self._with_tags(self._writable(request), tags)
        return {"tags": tags, "links": self._tag_links(project)}

    async def _clear_tags(self, request: Request) -> None:
        self._with_tags(self._writable(request), [])

    async def _has_tag(self, request: Request) -> None:
        project = self._resource.get(request, "get", reads)
        _require_tag(project, request.path_params["tag"])

    async def _add_tag(self, request: Request) -> None:
        project, tag = self._writable(request), request.path_params["tag"]
        self._with_tags(project, checked_tags([*project["tags"], tag]))

    async def _remove_tag(self, request: Request) -> None:
        project, tag = self._writable(request), request.path_params["tag"]
        _require_tag(project, tag)
        self._with_tags(project, [t for t in project["tags"] if t != tag])

    def _writable(self, request: Request) -> Document:
        return self._resource.get(
            request, "update", lambda who, p: policy.manages_domain(who, p["domain_id"])
        )

    def _with_tags(self, project: Document, tags: list[str]) -> Document:
        changed = {**project, "tags": tags}
        (self._directory.domains if project["is_domain"] else self._directory.projects).put(changed)
        return changed

    def _tag_links(self, project: Document) -> dict[str, Any]:
        return {
            "self": self._directory.url(f"projects/{project['id']}/tags"),
            "next": None,
            "previous": None,
        }


def reads(who: RequestContext, project: Document) -> bool:
    """Whether the caller may see the project."""
    if policy.reads_domain(who, project["domain_id"]) or who.project_id == project["id"]:
        return True
    return bool(project["is_domain"]) and policy.reads_domain(who, project["id"])


def checked_tags(tags: Any) -> list[str]:
    """Return the tags, each once; raises :class:`BadRequest`."""
    if not isinstance(tags, list) or len(tags) > 80:
        raise BadRequest("'tags' must be a list of at most 80 tags.")
    for tag in tags:
        if not isinstance(tag, str) or not 0 < len(tag) <= 255 or set(tag) & {"/", ","}:
            raise BadRequest("A tag must have 1 to 255 characters, without slash and comma.")
    return list(dict.fromkeys(tags))


def _require_tag(project: Document, tag: str) -> None:
    if tag not in project["tags"]:
        raise NotFound(f"The project has no tag '{tag}'.")


def has_tags(project: Document, query: QueryParams) -> bool:
    """Whether the project passes the tag filters of the query."""
    tags = set(project["tags"])

    def asked(name: str) -> set[str]:
        return set(query[name].split(","))

    return not (
        ("tags" in query and not asked("tags") <= tags)
        or ("tags-any" in query and not asked("tags-any") & tags)
        or ("not-tags" in query and asked("not-tags") <= tags)
        or ("not-tags-any" in query and asked("not-tags-any") & tags)
    )
