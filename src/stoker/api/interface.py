"""What all HTTP interfaces have in common: a request gets an id, and whatever happens an answer."""

from __future__ import annotations

import uuid
from collections.abc import Awaitable, Callable

from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.types import ASGIApp, Receive, Scope, Send

from stoker.kernel.diagnostics import type_of
from stoker.kernel.errors import BAD_REQUEST, Invalid, LimitExceeded
from stoker.kernel.log import Log
from stoker.kernel.log import request as request_log

_MOST_PARAMETERS = 500

log = Log(__name__)


def interface(
    respond: Callable[[Request, str], Awaitable[Response]], fault: Callable[[Exception], Response]
) -> ASGIApp:
    """An application: ``respond`` answers a request with its id, ``fault`` where that raises."""

    async def application(scope: Scope, receive: Receive, send: Send) -> None:
        request, request_id = Request(scope, receive), f"req-{uuid.uuid4()}"
        with request_log(request_id):
            try:
                response = await respond(request, request_id)
            except ClientDisconnect:
                response = Response(status_code=400)  # nobody reads it
            except Exception as error:
                if type_of(error) is None:
                    log.exception("request failed", method=request.method, path=request.url.path)
                response = fault(error)
        response.headers["x-openstack-request-id"] = request_id
        await response(scope, receive, send)

    return application


def path_of(request: Request) -> str:
    """The path of a request below the place where the application is mounted."""
    path: str = request.scope["path"]
    return path.removeprefix(request.scope.get("root_path", ""))


def check_address(request: Request) -> None:
    """Raise a refusal (400) of an address with too many parameters, or with a NUL character."""
    query = request.query_params.multi_items()
    if len(query) > _MOST_PARAMETERS:
        raise Invalid(f"The address has more than {_MOST_PARAMETERS} parameters.", BAD_REQUEST)
    if "\0" in request.scope["path"] or any("\0" in value for _, value in query):
        raise Invalid("The address contains a NUL character.", BAD_REQUEST)


async def read_body(request: Request, limit: int) -> bytes:
    """The body of a request; raises :class:`LimitExceeded` beyond ``limit`` bytes."""
    declared = request.headers.get("content-length", "")
    if declared.isascii() and declared.isdigit() and _exceeds(declared.lstrip("0"), limit):
        raise LimitExceeded(f"The body has {declared:.20} bytes, the limit is {limit}.")
    chunks: list[bytes] = []
    size = 0
    async for chunk in request.stream():
        size += len(chunk)
        if size > limit:
            raise LimitExceeded(f"The body is larger than the limit of {limit} bytes.")
        chunks.append(chunk)
    return b"".join(chunks)


def _exceeds(digits: str, limit: int) -> bool:
    """Whether a number is larger; a header may have more digits than Python turns into one."""
    return len(digits) > len(str(limit)) or int(digits or "0") > limit
