"""Signals at the CloudFormation endpoint: ``/v1/waitcondition/{arn}`` and ``/v1/signal/{arn}``.

A request is answered once its signal is stored. It proves who sends it by an EC2 signature, or by
a token for callers that have one. Nothing but the headers is read of those who prove nothing.
"""

from __future__ import annotations

import json
import re
import uuid
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.types import ASGIApp, Receive, Scope, Send

from stoker.api.body import read_body
from stoker.api.ports import Authenticate, Policy, VerifySignature
from stoker.api.signals.answers import error_answer, resource_answer
from stoker.engine.model.requests import Caller
from stoker.engine.service.service import Service
from stoker.kernel.addresses import ResourceAddress, parse_arn
from stoker.kernel.diagnostics import DiagnosticError
from stoker.kernel.errors import (
    ACCESS_DENIED,
    HTTP_NOT_FOUND,
    METHOD_NOT_ALLOWED,
    Forbidden,
    Invalid,
    NotFound,
    Refused,
)
from stoker.kernel.log import Log
from stoker.kernel.log import request as request_log

_METHODS = {"waitcondition": "PUT", "signal": "POST"}
_ADDRESS = re.compile(r"/v1/(waitcondition|signal)/(.+)", re.DOTALL)
_UNVERIFIED = 64 * 1024
"""Bytes that are read for a signature that covers them, of a sender who is not known yet."""
MOST_BYTES = 1024 * 1024
"""Of one signal, whatever the limit of the REST API is."""

log = Log(__name__)


@dataclass(frozen=True, slots=True)
class SignalSettings:
    """Options of the signal endpoint; sizes in bytes."""

    max_body_size: int = MOST_BYTES


def application(
    service: Service,
    verify: VerifySignature,
    authenticate: Authenticate,
    policy: Policy,
    settings: SignalSettings,
) -> ASGIApp:
    """The endpoint as an application; its paths begin with the version."""
    return _Signals(service, verify, authenticate, policy, settings)


class _Signals:
    def __init__(
        self,
        service: Service,
        verify: VerifySignature,
        authenticate: Authenticate,
        policy: Policy,
        settings: SignalSettings,
    ) -> None:
        self._service = service
        self._verify = verify
        self._authenticate = authenticate
        self._policy = policy
        self._settings = settings

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        response = await self._answered(Request(scope, receive))
        await response(scope, receive, send)

    async def _answered(self, request: Request) -> Response:
        request_id = f"req-{uuid.uuid4()}"
        with request_log(request_id):
            try:
                response = await self._signalled(request, request_id)
            except ClientDisconnect:
                response = Response(status_code=400)  # nobody reads it
            except Exception as error:
                if not isinstance(error, Refused | DiagnosticError):
                    log.exception("signal failed", path=request.url.path)
                response = error_answer(error)
        response.headers["x-openstack-request-id"] = request_id
        return response

    async def _signalled(self, request: Request, request_id: str) -> Response:
        kind, resource = _address(request)
        caller, body = await self._sender(request)
        caller = replace(caller, request_id=request_id)
        self._enforce("resource:signal", caller)
        await self._service.signals.signal(caller, resource.stack, resource.name, _details(body))
        if kind == "signal":
            return Response(status_code=200, media_type="text/html")
        as_json = request.query_params.get("ContentType") == "JSON"
        metadata: Mapping[str, Any] = {}
        if as_json:
            self._enforce("resource:metadata", caller)
            metadata = await self._service.views.metadata(caller, resource.stack, resource.name)
        return resource_answer(resource.name, metadata, as_json=as_json)

    def _enforce(self, rule: str, caller: Caller) -> None:
        if not self._policy.allows(rule, caller):
            raise Forbidden(f"The policy {rule} does not allow this to you.", ACCESS_DENIED)

    async def _sender(self, request: Request) -> tuple[Caller, bytes]:
        """Who sends a request, and its body: read last, unless a signature covers it."""
        limit, query, headers = self._settings.max_body_size, request.query_params, request.headers
        by_query = "Signature" in query
        signed = by_query or "X-Amz-Signature" in query or "authorization" in headers
        if not signed and "x-auth-token" in headers:
            caller = await self._authenticate(headers, None)
            if caller is None:
                raise Forbidden("The token is not valid.", ACCESS_DENIED)
            return caller, await read_body(request, limit)
        if by_query or not signed:
            caller = await self._check(request, b"")
            return caller, await read_body(request, limit)
        body = await read_body(request, min(limit, _UNVERIFIED))
        return await self._check(request, body), body

    async def _check(self, request: Request, body: bytes) -> Caller:
        return await self._verify(
            method=request.method,
            host=request.headers.get("host", ""),
            path=request.scope["path"],
            params=dict(request.query_params),
            headers=dict(request.headers),
            body=body,
        )


def _address(request: Request) -> tuple[str, ResourceAddress]:
    """What a request is for: ``waitcondition`` or ``signal``, and the resource. Refuses others."""
    path = request.scope["path"].removeprefix(request.scope.get("root_path", ""))
    match = _ADDRESS.fullmatch(path)
    if match is None or "\0" in path:
        raise NotFound("Nothing is served at this address.", HTTP_NOT_FOUND)
    kind, arn = match.groups()
    if request.method != _METHODS[kind]:
        raise Refused(f"This address takes {_METHODS[kind]} only.", METHOD_NOT_ALLOWED)
    resource = parse_arn(arn)
    if not isinstance(resource, ResourceAddress):
        raise Invalid("The address names no resource of a stack.")
    return kind, resource


def _details(body: bytes) -> Mapping[str, Any] | None:
    """The JSON object of a signal's body; None for an empty body. Refuses all else."""
    if not body.strip():
        return None
    try:
        details = json.loads(body)
    except (ValueError, RecursionError) as error:
        raise Invalid(f"The body is not valid JSON: {error}.") from None
    if not isinstance(details, dict):
        raise Invalid("The body of a signal is a JSON object.")
    return details
