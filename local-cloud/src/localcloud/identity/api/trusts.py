"""Trusts: a user lets another act with some of its roles on a project."""

from typing import Any

from starlette.requests import Request
from starlette.routing import BaseRoute

from localcloud.core.store import Document
from localcloud.identity.api.resource import listing
from localcloud.identity.model import policy
from localcloud.identity.model.assignments import Assignments
from localcloud.identity.model.directory import Directory, missing, new_id
from localcloud.identity.model.fields import Field, checked
from localcloud.identity.model.times import future, is_past
from localcloud.web.http import (
    BadRequestError,
    ForbiddenError,
    NotFoundError,
    RequestContext,
    context,
    read_object,
    route,
)

_FIELDS = (
    Field("trustor_user_id", required=True),
    Field("trustee_user_id", required=True),
    Field("impersonation", bool, required=True),
    Field("project_id"),
    Field("expires_at"),
    Field("remaining_uses", int),
    Field("redelegation_count", int),
    Field("allow_redelegation", bool),
    Field("roles", list, nullable=False, longest=100),
)
_REDELEGATION_LIMIT = 3


class Trusts:
    """The requests on trusts. A trust belongs to the trustor; both parties may see it."""

    def __init__(self, directory: Directory, assignments: Assignments) -> None:
        self._directory = directory
        self._assignments = assignments

    def routes(self) -> list[BaseRoute]:
        """Return the routes."""
        many, one = "/v3/OS-TRUST/trusts", "/v3/OS-TRUST/trusts/{id}"
        return [
            route("GET", many, self._list),
            route("POST", many, self._create, 201),
            route("GET", one, self._show),
            route("DELETE", one, self._delete),
            route("GET", f"{one}/roles", self._roles),
            route("GET", f"{one}/roles/{{role_id}}", self._role),
        ]

    async def _list(self, request: Request) -> Document:
        who, query = context(request), request.query_params
        filters = {
            name: query[name] for name in ("trustor_user_id", "trustee_user_id") if name in query
        }
        allowed = policy.reads_all(who) or who.user_id in filters.values()
        policy.require(allowed, "list_trusts")
        trusts = [
            {name: value for name, value in self._shown(trust).items() if name != "roles"}
            for trust in self._directory.trusts.find(**filters)
            if not is_past(trust["expires_at"], self._directory.clock.now())
        ]
        body = listing(self._directory, "trusts", trusts, request)
        body["links"]["self"] = self._directory.url("OS-TRUST/trusts")
        return body

    async def _show(self, request: Request) -> Document:
        return {"trust": self._shown(self._visible(request))}

    async def _roles(self, request: Request) -> Document:
        roles = self._shown(self._visible(request))["roles"]
        return listing(self._directory, "roles", roles, request)

    async def _role(self, request: Request) -> Document:
        trust = self._visible(request)
        for role in self._shown(trust)["roles"]:
            if role["id"] == request.path_params["role_id"]:
                return {"role": role}
        raise NotFoundError("The trust does not give this role.")

    async def _delete(self, request: Request) -> None:
        who, trust = context(request), self._visible(request)
        policy.require(who.is_admin or who.user_id == trust["trustor_user_id"], "delete_trust")
        with self._directory.store.transaction():
            self._remove(trust)

    def _remove(self, trust: Document) -> None:
        for handed_on in list(self._directory.trusts.values()):
            if handed_on["redelegated_trust_id"] == trust["id"]:
                self._remove(handed_on)
        self._directory.trusts.delete(trust["id"])

    async def _create(self, request: Request) -> Document:
        who = context(request)
        body = checked(await read_object(request, "trust"), _FIELDS)
        if body["trustor_user_id"] != who.user_id:
            raise ForbiddenError("A trust can be created by its trustor alone.")
        self._refuse_limited_token(who)
        self._directory.user(body["trustee_user_id"])
        project_id = body.get("project_id")
        if project_id is not None:
            self._directory.project(project_id)
        parent = self._parent(who)
        trust = {
            "id": new_id(),
            "trustor_user_id": who.user_id,
            "trustee_user_id": body["trustee_user_id"],
            "project_id": project_id,
            "impersonation": body["impersonation"],
            "role_ids": self._chosen_roles(who, body, parent),
            "expires_at": self._expiry(body, parent),
            "remaining_uses": _remaining_uses(body),
            "deleted_at": None,
            **_redelegation(body, parent),
        }
        self._directory.trusts.put(trust)
        return {"trust": self._shown(trust)}

    def _refuse_limited_token(self, who: RequestContext) -> None:
        credential = self._directory.application_credentials.get(
            who.application_credential_id or ""
        )
        if credential is not None and not credential["unrestricted"]:
            raise ForbiddenError("A restricted application credential cannot create trusts.")

    def _parent(self, who: RequestContext) -> Document | None:
        if who.trust_id is None:
            return None
        trust = self._directory.trust(who.trust_id)
        if not trust["allow_redelegation"]:
            raise ForbiddenError("This trust cannot be handed on.")
        return trust

    def _chosen_roles(
        self, who: RequestContext, body: Document, parent: Document | None
    ) -> list[str]:
        project_id = body.get("project_id")
        chosen = [self._role_id(reference) for reference in body.get("roles", [])]
        if project_id is None:
            if chosen:
                raise BadRequestError("A trust with roles needs a project.")
            return []
        if not chosen:
            raise ForbiddenError("At least one role must be given.")
        available = self._assignments.role_ids(who.user_id, "project", project_id)
        if parent is not None:
            available &= self._assignments.with_implied(parent["role_ids"])
            if parent["project_id"] != project_id:
                raise ForbiddenError("A trust is handed on for the same project alone.")
        if who.application_credential_id is not None:
            if who.project_id != project_id:
                raise ForbiddenError("An application credential can delegate its own project only.")
            held = self._assignments.token_roles(available)
            available = {role["id"] for role in held if role["name"] in who.roles}
        for role_id in chosen:
            if role_id not in available:
                raise ForbiddenError(
                    f"The trustor does not have the role '{role_id}' on the project."
                )
        return list(dict.fromkeys(chosen))

    def _role_id(self, reference: Any) -> str:
        if isinstance(reference, dict) and isinstance(reference.get("id"), str):
            return str(self._directory.role(reference["id"])["id"])
        if isinstance(reference, dict) and isinstance(reference.get("name"), str):
            for role in self._directory.roles.find(name=reference["name"]):
                return str(role["id"])
            raise missing("role", reference["name"])
        raise BadRequestError("A role must be given by its id or name.")

    def _expiry(self, body: Document, parent: Document | None) -> str | None:
        expires_at = future(body.get("expires_at"), self._directory.clock.now())
        latest = parent["expires_at"] if parent is not None else None
        return min((end for end in (expires_at, latest) if end is not None), default=None)

    def _visible(self, request: Request) -> Document:
        who, trust = context(request), self._directory.trust(request.path_params["id"])
        parties = {trust["trustor_user_id"], trust["trustee_user_id"]}
        policy.require(policy.reads_all(who) or who.user_id in parties, "get_trust")
        if is_past(trust["expires_at"], self._directory.clock.now()):
            raise missing("trust", trust["id"])
        return trust

    def _shown(self, trust: Document) -> dict[str, Any]:
        path = f"OS-TRUST/trusts/{trust['id']}"
        roles = [self._directory.roles.get(role_id) for role_id in trust["role_ids"]]
        return {
            **{name: value for name, value in trust.items() if name not in _HIDDEN},
            "roles": [
                {**role, "links": {"self": self._directory.url(f"roles/{role['id']}")}}
                for role in roles
                if role is not None
            ],
            "roles_links": self._directory.links(f"{path}/roles"),
            "links": {"self": self._directory.url(path)},
        }


_HIDDEN = frozenset({"role_ids", "allow_redelegation"})


def _remaining_uses(body: Document) -> int | None:
    uses = body.get("remaining_uses")
    if uses is not None and uses < 1:
        raise BadRequestError("'remaining_uses' must be 1 or more.")
    if uses is not None and body.get("allow_redelegation"):
        raise BadRequestError("A trust that can be handed on has no limit of uses.")
    return uses


def _redelegation(body: Document, parent: Document | None) -> dict[str, Any]:
    allowed = bool(body.get("allow_redelegation", False))
    available = _REDELEGATION_LIMIT
    if parent is not None:
        available = parent["redelegation_count"] - 1
        if available < 0 or (parent["impersonation"] is False and body["impersonation"]):
            raise ForbiddenError("This trust cannot be handed on like that.")
    count = body.get("redelegation_count")
    if count is not None and not 0 <= count <= available:
        raise ForbiddenError(f"'redelegation_count' must be between 0 and {available}.")
    return {
        "allow_redelegation": allowed,
        "redelegation_count": (available if count is None else count) if allowed else 0,
        "redelegated_trust_id": parent["id"] if parent else None,
    }
