"""Common parts of all HTTP interfaces: each request gets an id, and always a response."""

from __future__ import annotations

import re
import uuid
from collections.abc import Awaitable, Callable, Iterable
from http import HTTPStatus
from urllib.parse import parse_qsl

from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.types import ASGIApp, Receive, Scope, Send

from stoker.api.connections import OWNER
from stoker.engine.model.interfaces import StoreError
from stoker.kernel.diagnostics import type_of
from stoker.kernel.errors import (
    BAD_REQUEST,
    LimitExceededError,
    UnavailableError,
    ValidationError,
    lack_of,
)
from stoker.kernel.logs.log import Log
from stoker.kernel.logs.log import request as request_log
from stoker.kernel.logs.tracing import span
from stoker.kernel.request_scope import request_scope

_MOST_PARAMETERS = 500
RETRY_AFTER = 5  # seconds after which a failed request may succeed
_HEADER = "x-openstack-request-id"
_TRACE = re.compile("00-([0-9a-f]{32})-[0-9a-f]{16}-")
_HIGH = re.compile(rb"%[89a-fA-F]|[\x80-\xff]")  # characters outside ASCII in an address
# Ids of requests in the form of OpenStack services: such an id of a client is kept.
_REQUEST_ID = re.compile("req-[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")

log = Log(__name__)


def interface(
    respond: Callable[[Request, str], Awaitable[Response]],
    fault: Callable[[Exception], Response],
    *headers: str,
) -> ASGIApp:
    """Return an application from its functions.

    ``respond`` returns the response to a request with its id, ``fault`` that for an exception.
    Clients find the id in the header of OpenStack, and in further ``headers``.
    """

    async def application(scope: Scope, receive: Receive, send: Send) -> None:
        request, request_id = Request(scope, receive), f"req-{uuid.uuid4()}"
        parent = request.headers.get("traceparent")
        across = _across(request.headers.get(_HEADER, ""), parent) or request_id
        beginning = span(f"HTTP {request.method}", across, parent, path=request.url.path)
        with request_log(request_id, across), beginning, request_scope():
            try:
                response = await respond(request, request_id)
            except ClientDisconnect:
                response = Response(status_code=400)  # the client has disconnected
            except Exception as error:
                public = _public_error(error)
                if type_of(public) is None:
                    log.exception("request failed", method=request.method, path=request.url.path)
                response = fault(public)
        if response.status_code == HTTPStatus.SERVICE_UNAVAILABLE:
            response.headers.setdefault("Retry-After", str(RETRY_AFTER))
        for header in (_HEADER, *headers):
            response.headers[header] = request_id
        await response(scope, receive, send)

    return application


def _public_error(error: Exception) -> Exception:
    """Return the error for the client."""
    if isinstance(error, StoreError) and error.passing:
        log.warning("request not answered", reason=str(error))
        if error.is_full:
            return UnavailableError(
                "The disk of the service's database is full: nothing can be changed, nor deleted,"
                " before its operator makes room."
            )
        return UnavailableError(
            "The database of the service does not answer at present; try again later."
        )
    lack = lack_of(error)
    if lack is None:
        return error
    log.warning("request not answered", reason=f"this machine is short of {lack}: {error}")
    return UnavailableError("The machine of the service is overloaded at present; try again later.")


def _across(request_id: str, parent: str | None) -> str | None:
    """Return the client's id of its request: the one in the header, or that of its trace."""
    if _REQUEST_ID.fullmatch(request_id):
        return request_id
    traced = _TRACE.match(parent) if parent else None
    return f"req-{uuid.UUID(traced[1])}" if traced else None


def path_of(request: Request) -> str:
    """Return the path of a request below the mount point of the application."""
    path: str = request.scope["path"]
    return path.removeprefix(request.scope.get("root_path", ""))


def check_address(request: Request) -> None:
    """Raise RequestError (400) for a URL with too many parameters, or with invalid text."""
    query = request.query_params.multi_items()
    if len(query) > _MOST_PARAMETERS:
        raise ValidationError(
            f"The address has more than {_MOST_PARAMETERS} parameters.", BAD_REQUEST
        )
    if "\0" in request.scope["path"]:
        raise ValidationError("The path of the address contains a NUL character.", BAD_REQUEST)
    raw: bytes = request.scope["query_string"]
    if _HIGH.search(raw):  # The parsed parameters have a replacement for bytes that are not UTF-8.
        query = parse_qsl(raw.decode("latin-1"), keep_blank_values=True, errors="surrogateescape")
    check_parameters(query)


def check_parameters(parameters: Iterable[tuple[str, str]]) -> None:
    """Raise RequestError (400) for a parameter with a NUL character, or not in UTF-8.

    Bytes that are not UTF-8 appear as halves of surrogate pairs.
    """
    for name, value in parameters:
        if "\0" in name or "\0" in value:
            wrong = "a NUL character"
        elif not is_utf8(name) or not is_utf8(value):
            wrong = "bytes that are not UTF-8 text"
        else:
            continue
        shown = name.replace("\0", "?").encode(errors="replace").decode()
        raise ValidationError(f"The parameter {shown:.100} contains {wrong}.", BAD_REQUEST)


def is_utf8(text: str) -> bool:
    """Return whether a text can be encoded: it has no half of a surrogate pair."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


async def read_body(request: Request, limit: int, owner: str | None = None) -> bytes:
    """Return the body of a request. Raises :class:`LimitExceededError` beyond ``limit`` bytes.

    ``owner`` is the project of the caller, if it is known before the body is read.
    """
    announce = (request.scope.get("extensions") or {}).get(OWNER)
    if announce is not None and owner:
        announce(owner)
    declared = request.headers.get("content-length", "")
    if declared.isascii() and declared.isdigit() and _exceeds(declared.lstrip("0"), limit):
        raise LimitExceededError(f"The body has {declared:.20} bytes, the limit is {limit}.")
    chunks: list[bytes] = []
    size = 0
    async for chunk in request.stream():
        size += len(chunk)
        if size > limit:
            raise LimitExceededError(f"The body is larger than the limit of {limit} bytes.")
        chunks.append(chunk)
    return b"".join(chunks)


def _exceeds(digits: str, limit: int) -> bool:
    """Return whether a number is larger; a header may have more digits than Python converts."""
    return len(digits) > len(str(limit)) or int(digits or "0") > limit
