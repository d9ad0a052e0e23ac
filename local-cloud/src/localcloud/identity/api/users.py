"""Users, and their own requests: change their password, list their projects and groups."""

from collections.abc import Callable, Iterable

from starlette.requests import Request
from starlette.routing import BaseRoute

from localcloud.core.store import Document
from localcloud.identity.api import groups, projects
from localcloud.identity.api.resource import Kind, Resource, Rules, listed, passes
from localcloud.identity.model import policy
from localcloud.identity.model.assignments import Assignments
from localcloud.identity.model.directory import Directory, precise
from localcloud.identity.model.fields import DESCRIPTION, DOMAIN, ENABLED, NAME, OPTIONS, Field
from localcloud.identity.model.removal import Removal
from localcloud.identity.tokens.passwords import hashed, verify
from localcloud.web.http import (
    BadRequestError,
    RequestContext,
    UnauthorizedError,
    context,
    read_object,
    route,
)

KIND = Kind(
    "user",
    "users",
    fields=(
        NAME,
        DESCRIPTION,
        ENABLED,
        OPTIONS,
        DOMAIN,
        Field("default_project_id"),
        Field("password", longest=4096),
        Field("email"),
    ),
    filters=("name", "domain_id", "enabled", "id"),
    unique_names=True,
    hidden=frozenset({"password_hash", "tokens_valid_from"}),
)


class Users:
    """The requests on users."""

    def __init__(self, directory: Directory, assignments: Assignments, removal: Removal) -> None:
        self._directory = directory
        self._assignments = assignments
        rules = Rules(
            lists=policy.lists_domain_objects,
            reads=reads,
            writes=lambda who, user: policy.manages_domain(who, user["domain_id"]),
            complete=self._complete,
            change=lambda who, old, changes: self._with_password({**old, **changes}),
            remove=removal.user,
            present=lambda user: {"password_expires_at": None, **user},
        )
        self._resource = Resource(directory, directory.users, KIND, rules)

    def routes(self) -> list[BaseRoute]:
        """Return the routes."""
        return [
            *self._resource.routes(),
            route("POST", "/v3/users/{id}/password", self._change_password),
            route("GET", "/v3/users/{id}/projects", self._projects),
            route("GET", "/v3/users/{id}/groups", self._groups),
        ]

    def _complete(self, who: RequestContext, body: Document) -> Document:
        own = who.domain_id or who.project_domain_id or who.user_domain_id
        domain_id = self._directory.require_domain(body.get("domain_id") or own)
        user = {"enabled": True, "options": {}, **body, "domain_id": domain_id}
        return self._with_password(user)

    async def _change_password(self, request: Request) -> None:
        body = await read_object(request, "user")
        old, new = body.get("original_password"), body.get("password")
        if not isinstance(old, str) or not isinstance(new, str):
            raise BadRequestError("'original_password' and 'password' must be strings.")
        user = self._directory.users.get(request.path_params["id"])
        if user is None or not user["enabled"] or not verify(old, user.get("password_hash")):
            raise UnauthorizedError("The request you have made requires authentication.")
        self._directory.users.put(self._with_password({**user, "password": new}))

    async def _projects(self, request: Request) -> Document:
        user = self._resource.get(request, "list_projects_of", reads)
        return self._listed(projects.KIND, self._assignments.projects_of(user["id"]), request)

    async def _groups(self, request: Request) -> Document:
        user = self._resource.get(request, "list_groups_of", reads)
        mine = map(self._directory.group, self._directory.groups_of(user["id"]))
        return self._listed(groups.KIND, mine, request)

    def _listed(self, kind: Kind, documents: Iterable[Document], request: Request) -> Document:
        found = [d for d in documents if passes(d, request.query_params, kind.filters)]
        return listed(self._directory, kind, found, request)

    def _with_password(self, user: Document) -> Document:
        if "password" not in user:
            return user
        changed = {name: value for name, value in user.items() if name != "password"}
        password = user["password"]
        changed["password_hash"] = None if password is None else hashed(password)
        changed["tokens_valid_from"] = precise(self._directory.clock.now())
        return changed


def reads(who: RequestContext, user: Document) -> bool:
    """Return whether the caller may see the user."""
    return policy.reads_domain(who, user["domain_id"]) or who.user_id == user["id"]


def owned(
    directory: Directory,
    request: Request,
    action: str,
    others: Callable[[RequestContext], bool] = lambda who: who.is_admin,
) -> Document:
    """Return the user in the path, who owns the requested objects.

    The caller must be that user, an administrator of the user's domain, or one of ``others``;
    raises :class:`localcloud.web.http.ForbiddenError` otherwise.
    """
    who, user_id = context(request), request.path_params["user_id"]
    user = directory.users.get(user_id)
    if user is None:
        policy.require(policy.lists_domain_objects(who), action)
        return directory.user(user_id)
    mine = who.user_id == user_id
    allowed = mine or others(who) or policy.administers_domain(who, user["domain_id"])
    policy.require(allowed, action)
    return user
