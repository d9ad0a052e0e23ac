"""Groups of users."""

from starlette.requests import Request
from starlette.routing import BaseRoute

from localcloud.core.store import Document
from localcloud.identity.api.resource import Kind, Resource, Rules, listing
from localcloud.identity.model import policy
from localcloud.identity.model.directory import Directory
from localcloud.identity.model.fields import DESCRIPTION, DOMAIN, NAME
from localcloud.identity.model.removal import Removal
from localcloud.web.http import NotFoundError, RequestContext, context, route

KIND = Kind(
    "group",
    "groups",
    fields=(NAME, DESCRIPTION, DOMAIN),
    filters=("name", "domain_id", "id"),
    unique_names=True,
)


class Groups:
    """The requests on groups and their members."""

    def __init__(self, directory: Directory, removal: Removal, users: Kind) -> None:
        self._directory = directory
        self._users = users
        rules = Rules(
            lists=policy.lists_domain_objects,
            reads=_reads,
            writes=_writes,
            complete=self._complete,
            remove=removal.group,
        )
        self._resource = Resource(directory, directory.groups, KIND, rules)

    def routes(self) -> list[BaseRoute]:
        """Return the routes."""
        member = "/v3/groups/{id}/users/{user_id}"
        return [
            *self._resource.routes(),
            route("GET", "/v3/groups/{id}/users", self._members),
            route("GET", member, self._is_member),
            route("PUT", member, self._add_member),
            route("DELETE", member, self._remove_member),
        ]

    async def _members(self, request: Request) -> Document:
        group = self._resource.get(request, "list_users_in", _reads)
        memberships = self._directory.memberships.find(group_id=group["id"])
        hidden = self._users.hidden
        found = [
            {name: value for name, value in user.items() if name not in hidden}
            for membership in memberships
            if (user := self._directory.users.get(membership["user_id"]))
        ]
        return listing(self._directory, "users", found, request)

    async def _is_member(self, request: Request) -> None:
        self._require_member(self._membership(request, "check_user_in"))

    async def _add_member(self, request: Request) -> None:
        key = self._membership(request, "add_user_to")
        group_id, user_id = key.split(":")
        self._directory.memberships.put({"id": key, "group_id": group_id, "user_id": user_id})

    async def _remove_member(self, request: Request) -> None:
        key = self._membership(request, "remove_user_from")
        self._require_member(key)
        self._directory.memberships.delete(key)

    def _membership(self, request: Request, verb: str) -> str:
        group = self._resource.get(request, verb, _writes)
        user = self._directory.user(request.path_params["user_id"])
        allowed = policy.manages_domain(context(request), user["domain_id"])
        policy.require(allowed, f"{verb}_group")
        return f"{group['id']}:{user['id']}"

    def _require_member(self, key: str) -> None:
        if key not in self._directory.memberships:
            raise NotFoundError("The user is not in the group.")

    def _complete(self, who: RequestContext, body: Document) -> Document:
        own = body.get("domain_id") or who.domain_id or who.user_domain_id
        return {"description": "", **body, "domain_id": self._directory.require_domain(own)}


def _reads(who: RequestContext, group: Document) -> bool:
    return policy.reads_domain(who, group["domain_id"])


def _writes(who: RequestContext, group: Document) -> bool:
    return policy.manages_domain(who, group["domain_id"])
