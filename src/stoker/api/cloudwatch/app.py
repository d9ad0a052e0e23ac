"""The application: from an HTTP request in one of the protocols to its response.

Signatures cover the body, so it is read before its sender is known.
"""

from __future__ import annotations

import zlib

from msgspec import Struct
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import ASGIApp, Receive, Scope, Send

from stoker.api.aws_answers import REQUEST_ID
from stoker.api.cloudwatch.actions import ACTIONS
from stoker.api.cloudwatch.call import Call
from stoker.api.cloudwatch.members import Members
from stoker.api.cloudwatch.protocols import PROTOCOLS, WireProtocol, protocol_of
from stoker.api.interface import check_address, interface, read_body
from stoker.api.ports import Compute
from stoker.api.signed import Senders
from stoker.engine.model.interfaces import Policy
from stoker.engine.service.service import Service
from stoker.kernel.errors import (
    ACCESS_DENIED,
    BAD_REQUEST,
    INVALID_ACTION,
    ForbiddenError,
    LimitExceededError,
    ValidationError,
)
from stoker.kernel.time_limit import project
from stoker.kernel.values import replace

# Per request, compressed or not, as at AWS, whatever the limit of the REST API is.
MOST_BYTES = 1024 * 1024


class Api(Struct, frozen=True):
    """Services of the application."""

    service: Service
    senders: Senders
    policy: Policy
    compute: Compute


def application(api: Api) -> ASGIApp:
    """Return the API as an application; its paths may start with the version."""
    by_protocol = {
        name: interface(_Requests(api, protocol).respond, protocol.fault, REQUEST_ID)
        for name, protocol in PROTOCOLS.items()
    }

    async def application(scope: Scope, receive: Receive, send: Send) -> None:
        await by_protocol[protocol_of(Request(scope))](scope, receive, send)

    return application


class _Requests(Struct, frozen=True):
    """Handles the requests of one protocol."""

    api: Api
    protocol: WireProtocol

    async def respond(self, request: Request, request_id: str) -> Response:
        """Return the response to a request."""
        check_address(request)
        sent = await read_body(request, MOST_BYTES)
        body = _unpacked(sent, request.headers.get("content-encoding", ""))
        compute = self.api.compute
        action_request = await self.protocol.parse(request, body, compute)
        caller = await self.api.senders.sender(request, action_request.parameters, sent)
        project.set(caller.project_id)
        action, respond = action_request.action, ACTIONS.get(action_request.action)
        if respond is None:
            known = ", ".join(ACTIONS)
            raise ValidationError(
                f'"{action:.100}" is not an action; there are {known}.', INVALID_ACTION
            )
        if not self.api.policy.allows(f"cloudwatch:{action}", caller):
            message = f"The policy cloudwatch:{action} does not allow this to you."
            raise ForbiddenError(message, ACCESS_DENIED)
        call = Call(
            self.api.service, replace(caller, request_id=request_id), Members(action_request.input)
        )
        return await self.protocol.answer(action_request, await respond(call), compute)


def _unpacked(body: bytes, encoding: str) -> bytes:
    """Return a decompressed body; clients compress large ones."""
    if encoding.lower() in ("", "identity"):
        return body
    if encoding.lower() != "gzip":
        raise ValidationError(f'The encoding "{encoding:.100}" is not supported.', BAD_REQUEST)
    unpacking = zlib.decompressobj(zlib.MAX_WBITS | 16)
    try:
        unpacked = unpacking.decompress(body, MOST_BYTES + 1)
    except zlib.error as error:
        raise ValidationError(f"The body is not packed as it says: {error}.", BAD_REQUEST) from None
    if len(unpacked) > MOST_BYTES:
        raise LimitExceededError(f"The body is larger than the limit of {MOST_BYTES} bytes.")
    if body and not unpacking.eof:
        raise ValidationError("The body is not packed as it says: its end is missing.", BAD_REQUEST)
    return unpacked
