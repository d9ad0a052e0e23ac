"""The REST application: from an HTTP request to its handler, and to the response.

The order of the steps is part of the contract: version, authentication, address, method, project,
policy, and only then the content.
"""

from __future__ import annotations

from functools import partial

from starlette.middleware.cors import CORSMiddleware
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import ASGIApp

from stoker.api.interface import check_address, interface, read_body
from stoker.api.ports import Authenticate, Compute, Engines, Fetching
from stoker.api.rest import openapi
from stoker.api.rest.answers import json_response
from stoker.api.rest.call import Api, Call
from stoker.api.rest.faults import answer, forbidden, method_not_allowed, not_found
from stoker.api.rest.handlers import versions
from stoker.api.rest.links import Links, links_of
from stoker.api.rest.router import Router
from stoker.api.rest.routes import ROUTES
from stoker.api.rest.settings import RestSettings
from stoker.engine.model.interfaces import Policy
from stoker.engine.service.service import Service
from stoker.kernel.time_limit import project
from stoker.kernel.values import replace
from stoker.template.describe.catalogue import Catalogue

_ROUTER = Router(ROUTES)
_METHODS = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE"]
_UNAUTHORIZED = {
    "error": {
        "code": 401,
        "title": "Unauthorized",
        "message": "This address needs a valid token of the identity service.",
    }
}


def build(
    service: Service,
    catalogue: Catalogue,
    authenticate: Authenticate,
    policy: Policy,
    settings: RestSettings,
    engines: Engines,
    fetching: Fetching,
    compute: Compute,
) -> ASGIApp:
    """Return the REST application, with version negotiation and authentication."""
    api = Api(service, catalogue, engines, policy, settings, fetching, compute)
    fault = partial(answer, debug=settings.debug)
    server = interface(_Server(api, authenticate).respond, fault)
    if not settings.cors_origins:
        return server
    return CORSMiddleware(
        server,
        allow_origins=settings.cors_origins,
        allow_methods=_METHODS,
        allow_headers=["X-Auth-Token", "Content-Type"],
        expose_headers=["Location", "X-OpenStack-Request-ID"],
    )


class _Server:
    def __init__(self, api: Api, authenticate: Authenticate) -> None:
        self._api = api
        self._settings = api.settings
        self._authenticate = authenticate

    async def respond(self, request: Request, request_id: str) -> Response:
        """Return the response to a request."""
        path = request.scope["path"]
        if path == "/healthcheck":
            return Response()
        links = links_of(request.url, request.headers, behind_proxy=self._settings.behind_proxy)
        negotiated = versions.negotiate(path, request.headers.get("accept", ""))
        if isinstance(negotiated, versions.ListVersions):
            return json_response(versions.document(links), 300)
        if isinstance(negotiated, versions.UnknownPath):
            raise not_found("Nothing is served at this address.")
        if negotiated.path == openapi.PATH and request.method == "GET":
            return json_response(openapi.document(links.root, passwords=self._settings.passwords))
        return await self._authenticated(request, negotiated.path, links, request_id)

    async def _authenticated(
        self, request: Request, path: str, links: Links, request_id: str
    ) -> Response:
        project_id = path.removeprefix("/").partition("/")[0]
        caller = await self._authenticate(request.headers, project_id or None)
        project.set(caller.project_id if caller else "")
        if caller is None:
            challenge = f'Keystone uri="{self._settings.identity_uri}"'
            return json_response(_UNAUTHORIZED, 401, {"WWW-Authenticate": challenge})
        matches = _ROUTER.matches(path)
        if not matches:
            raise not_found("Nothing is served at this address.")
        allowed = ",".join(matches[0].operations)
        if request.method == "OPTIONS":
            return Response(status_code=204, headers={"Allow": allowed})
        match = next((m for m in matches if request.method in m.operations), None)
        if match is None:
            return _not_allowed(request.method, allowed)
        if match.parts["project_id"] != caller.project_id and not caller.is_admin:
            raise forbidden("The address names a project other than that of the token.")
        check_address(request)
        operation, most = match.operations[request.method], self._settings.max_json_body_size
        if operation.is_signal:
            most = min(most, self._settings.max_signal_size)
        call = Call(
            self._api,
            replace(caller, request_id=request_id),
            match.parts["project_id"],
            match.parts,
            request.query_params,
            request.headers.get("content-type", ""),
            await read_body(request, most, caller.project_id),
            links,
            request.headers,
        )
        if operation.rule is not None:
            call.enforce(operation.rule)
        try:
            return await operation.handler(call)
        finally:
            call.release()


def _not_allowed(method: str, allowed: str) -> Response:
    response = answer(method_not_allowed(method, allowed))
    response.headers["Allow"] = allowed
    return response
