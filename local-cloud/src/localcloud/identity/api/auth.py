"""Requests below ``/v3/auth``: issue, show and revoke tokens, and list the scopes of the caller."""

from datetime import timedelta
from typing import Any

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute

from localcloud.identity.api import domains, projects
from localcloud.identity.api.resource import listed
from localcloud.identity.identity import Identity
from localcloud.identity.model import policy
from localcloud.identity.model.catalog import catalog
from localcloud.identity.tokens.authentication import Issued
from localcloud.identity.tokens.token_body import token_answer
from localcloud.identity.tokens.tokens import EXPIRED_GRACE
from localcloud.web.http import (
    BadRequestError,
    NotFoundError,
    UnauthorizedError,
    boolean,
    context,
    read_object,
    route,
)


class Auth:
    """The requests on tokens."""

    def __init__(self, identity: Identity) -> None:
        self._identity = identity
        self._directory = identity.directory
        self._assignments = identity.assignments

    def routes(self) -> list[BaseRoute]:
        """Return the routes."""
        return [
            route("POST", "/v3/auth/tokens", self._issue),
            route("GET", "/v3/auth/tokens", self._validate),
            route("DELETE", "/v3/auth/tokens", self._revoke),
            route("GET", "/v3/auth/catalog", self._catalog),
            route("GET", "/v3/auth/projects", self._projects),
            route("GET", "/v3/auth/domains", self._domains),
            route("GET", "/v3/auth/system", self._system),
        ]

    async def _issue(self, request: Request) -> Response:
        body = await read_object(request, "auth")
        return self._answer(request, self._identity.authentication.authenticate(body), 201)

    async def _validate(self, request: Request) -> Response:
        return self._answer(request, self._subject(request, "validate_token"))

    async def _revoke(self, request: Request) -> None:
        self._identity.tokens.revoke(self._subject(request, "revoke_token").access.token)

    def _answer(self, request: Request, issued: Issued, status: int = 200) -> Response:
        with_catalog = "nocatalog" not in request.query_params
        return token_answer(self._directory, issued, status, with_catalog=with_catalog)

    def _subject(self, request: Request, action: str) -> Issued:
        who = context(request)
        text = request.headers.get("x-subject-token")
        if not text:
            raise BadRequestError("The header X-Subject-Token is missing.")
        if text != who.token:
            policy.require(policy.serves(who), action)
        expired = policy.serves(who) and boolean(request.query_params.get("allow_expired", "0"))
        grace = EXPIRED_GRACE if expired else timedelta(0)
        try:
            token = self._identity.tokens.open(text, grace)
            return Issued(text, self._identity.control.access(token))
        except UnauthorizedError as error:
            raise NotFoundError("There is no such token.") from error

    async def _catalog(self, request: Request) -> dict[str, Any]:
        who = context(request)
        return {
            "catalog": catalog(self._directory, who.user_id, who.project_id),
            "links": self._directory.links("auth/catalog"),
        }

    async def _projects(self, request: Request) -> dict[str, Any]:
        found = self._assignments.projects_of(context(request).user_id)
        return listed(self._directory, projects.KIND, found, request)

    async def _domains(self, request: Request) -> dict[str, Any]:
        found = self._assignments.domains_of(context(request).user_id)
        return listed(self._directory, domains.KIND, found, request)

    async def _system(self, request: Request) -> dict[str, Any]:
        has_role = self._assignments.has_system_role(context(request).user_id)
        links = {"self": self._directory.url("auth/system")}
        return {"system": [{"all": True}] if has_role else [], "links": links}
