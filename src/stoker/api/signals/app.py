"""Signals at the CloudFormation endpoint: ``/v1/waitcondition/{arn}`` and ``/v1/signal/{arn}``.

A request is answered once its signal is stored. Its sender is authenticated by an EC2 signature, or
by a token for callers that have one. Only the headers of other requests are read.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

from msgspec import Struct
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import ASGIApp

from stoker.api.aws_answers import XML, error_answer, xml_text
from stoker.api.documents import parse_object
from stoker.api.interface import check_address, interface, path_of, read_body
from stoker.api.ports import Compute
from stoker.api.signed import Senders, covers_body
from stoker.engine.model.interfaces import Policy
from stoker.engine.model.requests import Caller
from stoker.engine.service.service import Service
from stoker.kernel.addresses import ResourceAddress, parse_arn
from stoker.kernel.errors import (
    ACCESS_DENIED,
    HTTP_NOT_FOUND,
    METHOD_NOT_ALLOWED,
    ForbiddenError,
    NotFoundError,
    RequestError,
    ValidationError,
)
from stoker.kernel.time_limit import project
from stoker.kernel.values import replace

_METHODS = {"waitcondition": "PUT", "signal": "POST"}
_ADDRESS = re.compile(r"/v1/(waitcondition|signal)/(.+)", re.DOTALL)
# Bytes that are read from an unknown sender, for a signature that covers them.
_UNVERIFIED = 64 * 1024


def application(
    service: Service,
    senders: Senders,
    policy: Policy,
    max_body_size: int,
    compute: Compute,
) -> ASGIApp:
    """Return the endpoint as an application; its paths start with the version."""
    signals = _Signals(service, senders, policy, max_body_size, compute)
    return interface(signals.respond, error_answer)


class _Signals(Struct, frozen=True):
    service: Service
    senders: Senders
    policy: Policy
    max_body_size: int
    compute: Compute

    async def respond(self, request: Request, request_id: str) -> Response:
        """Return the response to a request."""
        kind, resource = _address(request)
        check_address(request)
        caller, body = await self._sender(request)
        caller = replace(caller, request_id=request_id)
        self._enforce("resource:signal", caller)
        project.set(caller.project_id)
        details = await parse_object(body, self.compute) if body.strip() else None
        waits = kind == "waitcondition"  # its sender gets the effect in the response
        await self.service.signals.signal(
            caller, resource.stack, resource.name, details, must_fit=waits
        )
        if kind == "signal":
            return Response(status_code=200, media_type="text/html")
        as_json = request.query_params.get("ContentType") == "JSON"
        metadata: Mapping[str, Any] = {}
        if as_json:
            self._enforce("resource:metadata", caller)
            metadata = await self.service.views.metadata(caller, resource.stack, resource.name)
        return _resource_answer(resource.name, metadata, as_json=as_json)

    def _enforce(self, rule: str, caller: Caller) -> None:
        if not self.policy.allows(rule, caller):
            raise ForbiddenError(f"The policy {rule} does not allow this to you.", ACCESS_DENIED)

    async def _sender(self, request: Request) -> tuple[Caller, bytes]:
        """Return the sender of a request, and its body: read last, unless a signature covers it."""
        query, limit = dict(request.query_params), self.max_body_size
        if covers_body(request):
            body = await read_body(request, min(limit, _UNVERIFIED))
            return await self.senders.sender(request, query, body), body
        caller = await self.senders.sender(request, query)
        return caller, await read_body(request, limit, caller.project_id)


def _resource_answer(name: str, metadata: Mapping[str, Any], *, as_json: bool) -> Response:
    """Return the response to a signal of a wait condition: the signalled resource."""
    if as_json:
        content = json.dumps({"resource": name, "metadata": dict(metadata)})
        return Response(content, media_type="application/json")
    return Response(f"<resource>{xml_text(name)}</resource>", headers={"Content-Type": XML})


def _address(request: Request) -> tuple[str, ResourceAddress]:
    """Return kind (``waitcondition`` or ``signal``) and resource of a request. Rejects others."""
    path = path_of(request)
    match = _ADDRESS.fullmatch(path)
    if match is None or "\0" in path:
        raise NotFoundError("Nothing is served at this address.", HTTP_NOT_FOUND)
    kind, arn = match.groups()
    if request.method != _METHODS[kind]:
        raise RequestError(f"This address takes {_METHODS[kind]} only.", METHOD_NOT_ALLOWED)
    resource = parse_arn(arn)
    if not isinstance(resource, ResourceAddress):
        raise ValidationError("The address does not name a resource of a stack.")
    return kind, resource
