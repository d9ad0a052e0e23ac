"""The requests under ``/v3/auth``: getting, showing and revoking tokens, and one's own scopes."""

from datetime import timedelta
from typing import Any

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import BaseRoute

from localcloud.http import BadRequest, NotFound, Unauthorized, boolean, context, read_object, route
from localcloud.identity import domains, policy, projects
from localcloud.identity.access import Access, AccessControl
from localcloud.identity.assignments import Assignments
from localcloud.identity.authentication import Authentication
from localcloud.identity.catalog import catalog
from localcloud.identity.directory import Directory
from localcloud.identity.resource import listing, shown
from localcloud.identity.token_body import token_body
from localcloud.identity.tokens import EXPIRED_GRACE, Tokens


class Auth:
    """The requests on tokens."""

    def __init__(
        self,
        directory: Directory,
        assignments: Assignments,
        tokens: Tokens,
        control: AccessControl,
        authentication: Authentication,
    ) -> None:
        self._directory = directory
        self._assignments = assignments
        self._tokens = tokens
        self._control = control
        self._authentication = authentication

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
        issued = self._authentication.authenticate(await read_object(request, "auth"))
        return self._answer(request, issued.access, issued.text, 201)

    async def _validate(self, request: Request) -> Response:
        text, access = self._subject(request, "validate_token")
        return self._answer(request, access, text, 200)

    async def _revoke(self, request: Request) -> None:
        _, access = self._subject(request, "revoke_token")
        self._tokens.revoke(access.token)

    def _answer(self, request: Request, access: Access, text: str, status: int) -> Response:
        with_catalog = "nocatalog" not in request.query_params
        body = token_body(self._directory, access, with_catalog=with_catalog)
        headers = {"X-Subject-Token": text, "Vary": "X-Auth-Token"}
        return JSONResponse({"token": body}, status, headers)

    def _subject(self, request: Request, action: str) -> tuple[str, Access]:
        who = context(request)
        text = request.headers.get("x-subject-token")
        if not text:
            raise BadRequest("The header X-Subject-Token is missing.")
        if text != who.token:
            policy.require(policy.serves(who), action)
        expired = policy.serves(who) and boolean(request.query_params.get("allow_expired", "0"))
        grace = EXPIRED_GRACE if expired else timedelta(0)
        try:
            return text, self._control.access(self._tokens.open(text, grace))
        except Unauthorized as error:
            raise NotFound("There is no such token.") from error

    async def _catalog(self, request: Request) -> dict[str, Any]:
        who = context(request)
        return {
            "catalog": catalog(self._directory, who.user_id, who.project_id),
            "links": {"self": self._directory.url("auth/catalog"), "next": None, "previous": None},
        }

    async def _projects(self, request: Request) -> dict[str, Any]:
        found = [
            shown(self._directory, projects.KIND, project)
            for project in self._assignments.projects_of(context(request).user_id)
        ]
        return listing(self._directory, "projects", found, request)

    async def _domains(self, request: Request) -> dict[str, Any]:
        found = [
            shown(self._directory, domains.KIND, domain)
            for domain in self._assignments.domains_of(context(request).user_id)
        ]
        return listing(self._directory, "domains", found, request)

    async def _system(self, request: Request) -> dict[str, Any]:
        has_role = self._assignments.has_system_role(context(request).user_id)
        links = {"self": self._directory.url("auth/system")}
        return {"system": [{"all": True}] if has_role else [], "links": links}
