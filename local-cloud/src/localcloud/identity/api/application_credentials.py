"""Application credentials: secrets of users, each with some of their roles on a project."""

import secrets
from typing import Any

from starlette.requests import Request
from starlette.routing import BaseRoute

from localcloud.core.store import Document
from localcloud.identity.api.resource import listing, passes
from localcloud.identity.api.users import owned
from localcloud.identity.model import policy
from localcloud.identity.model.assignments import Assignments
from localcloud.identity.model.directory import Directory, missing, new_id
from localcloud.identity.model.fields import DESCRIPTION, NAME, Field, checked
from localcloud.identity.model.times import future
from localcloud.identity.tokens.passwords import hashed
from localcloud.web.http import (
    BadRequestError,
    ConflictError,
    ForbiddenError,
    RequestContext,
    context,
    read_object,
    route,
)

_FIELDS = (
    NAME,
    DESCRIPTION,
    Field("secret", longest=4096),
    Field("expires_at"),
    Field("unrestricted", bool),
    Field("roles", list, longest=100),
    Field("access_rules", list, longest=100),
)
_HIDDEN = frozenset({"secret_hash", "role_ids"})


class ApplicationCredentials:
    """The requests on application credentials and their access rules."""

    def __init__(self, directory: Directory, assignments: Assignments) -> None:
        self._directory = directory
        self._assignments = assignments

    def routes(self) -> list[BaseRoute]:
        """Return the routes."""
        many = "/v3/users/{user_id}/application_credentials"
        rules = "/v3/users/{user_id}/access_rules"
        return [
            route("GET", many, self._list),
            route("POST", many, self._create, 201),
            route("GET", f"{many}/{{id}}", self._show),
            route("DELETE", f"{many}/{{id}}", self._delete),
            route("GET", rules, self._list_rules),
            route("GET", f"{rules}/{{id}}", self._show_rule),
        ]

    async def _list(self, request: Request) -> Document:
        action = "list_application_credentials"
        user = owned(self._directory, request, action, policy.reads_all)
        found = [
            self._shown(credential)
            for credential in self._directory.application_credentials.find(user_id=user["id"])
            if passes(credential, request.query_params, ("name",))
        ]
        return listing(self._directory, "application_credentials", found, request)

    async def _show(self, request: Request) -> Document:
        user = owned(self._directory, request, "get_application_credential", policy.reads_all)
        credential = self._named(request, user)
        return {"application_credential": self._shown(credential)}

    async def _delete(self, request: Request) -> None:
        self._refuse_restricted(context(request))
        user = owned(self._directory, request, "delete_application_credential")
        credential = self._named(request, user)
        self._directory.application_credentials.delete(credential["id"])

    async def _create(self, request: Request) -> Document:
        who, user_id = context(request), request.path_params["user_id"]
        policy.require(who.user_id == user_id, "create_application_credential")
        self._refuse_restricted(who)
        if who.project_id is None or who.trust_id is not None:
            raise ForbiddenError("An application credential is made with a token for a project.")
        body = checked(await read_object(request, "application_credential"), _FIELDS)
        known = self._directory.application_credentials
        for _ in known.find(user_id=user_id, name=body["name"]):
            raise ConflictError(f"There is already an application credential '{body['name']}'.")
        _require_no_access_rules(body.get("access_rules"))
        secret = body.get("secret") or secrets.token_hex(43)
        credential = {
            "id": new_id(),
            "name": body["name"],
            "description": body.get("description"),
            "user_id": user_id,
            "project_id": who.project_id,
            "role_ids": self._roles(who, body.get("roles")),
            "expires_at": future(body.get("expires_at"), self._directory.clock.now()),
            "unrestricted": bool(body.get("unrestricted")),
            "access_rules": None,
            "secret_hash": hashed(secret),
        }
        known.put(credential)
        shown = {**self._shown(credential), "secret": secret}
        return {"application_credential": shown}

    async def _list_rules(self, request: Request) -> Document:
        user = owned(self._directory, request, "list_access_rules", policy.reads_all)
        return listing(self._directory, "access_rules", self._rules(user), request)

    async def _show_rule(self, request: Request) -> Document:
        key = request.path_params["id"]
        user = owned(self._directory, request, "get_access_rule", policy.reads_all)
        for rule in self._rules(user):
            if rule["id"] == key:
                return {"access_rule": rule}
        raise missing("access rule", key)

    def _rules(self, user: Document) -> list[Document]:
        credentials = self._directory.application_credentials.find(user_id=user["id"])
        return [rule for c in credentials for rule in c["access_rules"] or ()]

    def _roles(self, who: RequestContext, references: Any) -> list[str]:
        """Return the IDs of the requested roles. The token must have all of them.

        The user may have more roles than the token, if the token is limited to some of them.
        """
        held = self._assignments.role_ids(who.user_id, "project", str(who.project_id))
        available = [
            role for role in self._assignments.token_roles(held) if role["name"] in who.roles
        ]
        if not references:
            return [role["id"] for role in available]
        chosen = []
        for reference in references:
            if not isinstance(reference, dict) or not {"id", "name"} & reference.keys():
                raise BadRequestError("A role must be given by its id or name.")
            match = [
                role["id"]
                for role in available
                if reference.get("id", role["id"]) == role["id"]
                and reference.get("name", role["name"]) == role["name"]
            ]
            if not match:
                raise BadRequestError("The requested role is not one of the token's roles.")
            chosen.append(match[0])
        return chosen

    def _refuse_restricted(self, who: RequestContext) -> None:
        current = self._directory.application_credentials.get(who.application_credential_id or "")
        if current is not None and not current["unrestricted"]:
            raise ForbiddenError("A restricted application credential cannot manage others.")

    def _named(self, request: Request, user: Document) -> Document:
        key = request.path_params["id"]
        credential = self._directory.application_credentials.get(key)
        if credential is None or credential["user_id"] != user["id"]:
            raise missing("application credential", key)
        return credential

    def _shown(self, credential: Document) -> dict[str, Any]:
        path = f"users/{credential['user_id']}/application_credentials/{credential['id']}"
        visible = {name: value for name, value in credential.items() if name not in _HIDDEN}
        if visible["access_rules"] is None:
            del visible["access_rules"]
        roles = self._assignments.token_roles(credential["role_ids"])
        return {
            **visible,
            "roles": [{"id": r["id"], "name": r["name"], "domain_id": None} for r in roles],
            "links": {"self": self._directory.url(path)},
        }


def _require_no_access_rules(rules: list[Any] | None) -> None:
    """Raise :class:`BadRequestError` for access rules: no service of the cloud enforces them."""
    if rules:
        raise BadRequestError("Access rules are refused: this cloud does not enforce them.")
