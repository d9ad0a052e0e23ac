"""Signals at the CloudFormation endpoint: ``/v1/waitcondition/{arn}`` and ``/v1/signal/{arn}``.

A request is answered once its signal is stored. It proves who sends it by an EC2 signature, or by
a token for callers that have one.
"""

from __future__ import annotations

import json
import uuid
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from stoker.api.body import read_body
from stoker.api.ports import Authenticate, VerifySignature
from stoker.api.signals.answers import error_answer, resource_answer
from stoker.engine.requests import Caller
from stoker.engine.service import Service
from stoker.kernel.addresses import ResourceAddress, parse_arn
from stoker.kernel.diagnostics import DiagnosticError
from stoker.kernel.errors import Forbidden, Invalid, Refused
from stoker.kernel.log import Log
from stoker.kernel.log import request as request_log

_SIGNATURES = ("Signature", "X-Amz-Signature")

log = Log(__name__)


@dataclass(frozen=True, slots=True)
class SignalSettings:
    """Options of the signal endpoint; sizes in bytes."""

    max_body_size: int = 1024 * 1024


def routes(
    service: Service,
    verify: VerifySignature,
    authenticate: Authenticate,
    settings: SignalSettings,
) -> list[Route]:
    """The routes of the endpoint, for an application that serves the CloudFormation port."""
    signals = _Signals(service, verify, authenticate, settings)
    return [
        Route("/v1/waitcondition/{arn:path}", signals.wait_condition, methods=["PUT"]),
        Route("/v1/signal/{arn:path}", signals.signal, methods=["POST"]),
    ]


class _Signals:
    def __init__(
        self,
        service: Service,
        verify: VerifySignature,
        authenticate: Authenticate,
        settings: SignalSettings,
    ) -> None:
        self._service = service
        self._verify = verify
        self._authenticate = authenticate
        self._settings = settings

    async def wait_condition(self, request: Request) -> Response:
        return await self._answered(request, self._wait_condition)

    async def signal(self, request: Request) -> Response:
        return await self._answered(request, self._signal)

    async def _answered(self, request: Request, handle: Any) -> Response:
        request_id = f"req-{uuid.uuid4()}"
        with request_log(request_id):
            try:
                response: Response = await handle(request, request_id)
            except Exception as error:
                if not isinstance(error, Refused | DiagnosticError):
                    log.exception("signal failed", path=request.url.path)
                response = error_answer(error)
        response.headers["x-openstack-request-id"] = request_id
        return response

    async def _wait_condition(self, request: Request, request_id: str) -> Response:
        caller, resource = await self._receive(request, request_id)
        as_json = request.query_params.get("ContentType") == "JSON"
        metadata: Mapping[str, Any] = {}
        if as_json:
            metadata = await self._service.views.metadata(caller, resource.stack, resource.name)
        return resource_answer(resource.name, metadata, as_json=as_json)

    async def _signal(self, request: Request, request_id: str) -> Response:
        await self._receive(request, request_id)
        return Response(status_code=200, media_type="text/html")

    async def _receive(self, request: Request, request_id: str) -> tuple[Caller, ResourceAddress]:
        """Store the signal that a request brings; return who sent it, and for what."""
        body = await read_body(request, self._settings.max_body_size)
        caller = replace(await self._caller(request, body), request_id=request_id)
        resource = parse_arn(request.path_params["arn"])
        if not isinstance(resource, ResourceAddress):
            raise Invalid("The address names no resource of a stack.")
        await self._service.signals.signal(caller, resource.stack, resource.name, _details(body))
        return caller, resource

    async def _caller(self, request: Request, body: bytes) -> Caller:
        unsigned = not any(name in request.query_params for name in _SIGNATURES)
        if unsigned and "x-auth-token" in request.headers:
            caller = await self._authenticate(request.headers, None)
            if caller is None:
                raise Forbidden("The token is not valid.", "AccessDenied")
            return caller
        return await self._verify(
            method=request.method,
            host=request.headers.get("host", ""),
            path=request.scope["path"],
            params=dict(request.query_params),
            headers=dict(request.headers),
            body=body,
        )


def _details(body: bytes) -> Mapping[str, Any] | None:
    """The JSON object of a signal's body; None for an empty body. Refuses all else."""
    if not body.strip():
        return None
    try:
        details = json.loads(body)
    except (ValueError, RecursionError) as error:
        raise Invalid(f"The body is no valid JSON: {error}.") from None
    if not isinstance(details, dict):
        raise Invalid("The body of a signal is a JSON object.")
    return details
