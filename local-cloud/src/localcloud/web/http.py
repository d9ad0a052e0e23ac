"""Common parts of all HTTP APIs of the cloud: callers, bodies, responses, errors, lists.

Errors are raised as :class:`ApiError` and become a response in the format of the service. The four
formats at the end of this module are those of Keystone, Nova, Neutron and Glance.
"""

import json
from collections import Counter
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from http import HTTPStatus
from typing import Any

from msgspec import Struct
from starlette.datastructures import QueryParams
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

JSON_BODY_LIMIT = 1 << 20  # bytes that a JSON request body may have
STACK_USER = "heat_stack_user"  # the role of the users that stacks make for their servers
# Bytes of a request body that are read before the caller is known, as in Keystone.
UNKNOWN_BODY_LIMIT = 112 * 1024
# Bytes of request bodies that one project may have in memory, waiting for their rest.
OWNED_BODIES_LIMIT = 64 << 20
# The extension of a connection to which the project of a request is announced.
OWNER = "localcloud.owner"
PAGE_LIMIT = 1000  # items in one page of a list, at most


@dataclass(frozen=True)
class RequestContext:
    """The caller of a request, from its token."""

    user_id: str
    user_domain_id: str = "default"
    user_name: str = ""
    project_id: str | None = None
    project_name: str = ""
    project_domain_id: str | None = None
    domain_id: str | None = None  # the domain of a domain-scoped token
    system: bool = False  # the token is scoped to the whole system
    roles: tuple[str, ...] = ()  # names of the roles, implied ones included
    token: str = field(default="", repr=False)
    trust_id: str | None = None
    application_credential_id: str | None = None
    request_id: str = ""

    @property
    def is_stack_user(self) -> bool:
        """Return whether the bearer is a guest: a user made by a stack for one of its servers."""
        return STACK_USER in self.roles and "member" not in self.roles

    @property
    def is_admin(self) -> bool:
        """Return whether the bearer may do everything in all projects; a domain's admin may not."""
        return "admin" in self.roles and self.domain_id is None

    def require_project(self) -> str:
        """Return the id of the token's project; raises :class:`ForbiddenError` without one."""
        if self.project_id is None:
            raise ForbiddenError("This request needs a token that is scoped to a project.")
        return self.project_id


class ApiError(Exception):
    """An error that becomes the answer to a request."""

    status = 500
    type = "InternalServerError"

    def __init__(
        self,
        message: str,
        *,
        status: int | None = None,
        type: str | None = None,  # noqa: A002
        detail: str = "",
        headers: dict[str, str] | None = None,
    ) -> None:
        super().__init__(message)
        self.message = message
        self.status = status or self.status
        self.type = type or self.type
        self.detail = detail
        self.headers = headers or {}


class BadRequestError(ApiError):
    """The request is malformed."""

    status = 400
    type = "BadRequest"


class UnauthorizedError(ApiError):
    """The caller is not known."""

    status = 401
    type = "Unauthorized"


class ForbiddenError(ApiError):
    """The caller is known and may not do this."""

    status = 403
    type = "Forbidden"


class QuotaExceededError(ForbiddenError):
    """The project has as much of this as it may have; services set their own status and type."""

    type = "OverQuota"


class NotFoundError(ApiError):
    """There is no such thing, or the caller may not know of it."""

    status = 404
    type = "NotFound"


class MethodNotAllowedError(ApiError):
    """The path exists and does not understand the method."""

    status = 405
    type = "MethodNotAllowed"


class NotAcceptableError(ApiError):
    """The requested version or representation does not exist."""

    status = 406
    type = "NotAcceptable"


class ConflictError(ApiError):
    """The state of things does not allow this now, or the name is taken."""

    status = 409
    type = "Conflict"


class TooLargeError(ApiError):
    """The body is longer than allowed."""

    status = 413
    type = "RequestEntityTooLarge"


class UnsupportedMediaTypeError(ApiError):
    """The body is of a type that is not understood here."""

    status = 415
    type = "UnsupportedMediaType"


def context(request: Request) -> RequestContext:
    """Return the caller of the request; raises :class:`UnauthorizedError` without one."""
    found = getattr(request.state, "context", None)
    if not isinstance(found, RequestContext):
        raise UnauthorizedError("The request you have made requires authentication.")
    return found


def announce(request: Request, caller: RequestContext) -> None:
    """Let the connection of a request know which project it works for."""
    owner = caller.project_id or caller.user_id
    request.state.owner = owner
    extension = (request.scope.get("extensions") or {}).get(OWNER)
    if extension is not None:
        extension(owner)


async def read_body(request: Request, limit: int = JSON_BODY_LIMIT) -> bytes:
    """Return the whole body; raises :class:`TooLargeError` beyond ``limit`` bytes.

    Bodies that are being read for one project have a limit together.
    """
    owner = getattr(request.state, "owner", None)
    limit = limit if owner is not None else min(limit, UNKNOWN_BODY_LIMIT)
    held = getattr(request.state, "held_bodies", Counter())
    chunks = []
    size = 0
    try:
        async for chunk in request.stream():
            size += len(chunk)
            held[owner] += len(chunk)
            if size > limit:
                raise TooLargeError(f"The request body is longer than {limit} bytes.")
            if owner is not None and held[owner] > OWNED_BODIES_LIMIT:
                raise TooLargeError("The unfinished request bodies of the project are too large.")
            chunks.append(chunk)
    finally:
        held[owner] -= size
        if not held[owner]:
            del held[owner]
    return b"".join(chunks)


async def read_json(request: Request, limit: int = JSON_BODY_LIMIT) -> dict[str, Any]:
    """Return the JSON object of the body, {} for an empty body; raises :class:`BadRequestError`."""
    return parse_json(await read_body(request, limit))


def parse_json(body: bytes) -> dict[str, Any]:
    """Return the JSON object of a body, {} for an empty one; raises :class:`BadRequestError`."""
    if not body:
        return {}
    try:
        content = json.loads(body)
        if b"\\ud" in body.lower():
            # Half a surrogate pair is valid JSON, but no text: it can be neither kept nor shown.
            json.dumps(content, ensure_ascii=False).encode()
    except (ValueError, RecursionError) as error:
        raise BadRequestError(f"The request body is not valid JSON: {error}") from error
    if not isinstance(content, dict):
        raise BadRequestError("The request body must be a JSON object.")
    return content


async def read_object(request: Request, name: str) -> dict[str, Any]:
    """Return the object ``{name: {...}}`` wraps; raises :class:`BadRequestError` where it is
    missing.
    """
    return wrapped(await read_json(request), name)


def wrapped(content: dict[str, Any], name: str) -> dict[str, Any]:
    """Return the object under ``name``; raises :class:`BadRequestError` where it is missing."""
    found = content.get(name)
    if not isinstance(found, dict):
        raise BadRequestError(f"The request body must have an object '{name}'.")
    return found


# What a handler returns: a response, or the JSON object of one, or None for an empty one.
Answer = Response | Mapping[str, Any] | None
Handler = Callable[[Request], Awaitable[Answer]]


def route(method: str, path: str, handler: Handler, status: int | None = None) -> Route:
    """Return the route of a handler; its answers have the status 200, or 204 where empty."""

    async def handle(request: Request) -> Response:
        return respond(await handler(request), status)

    return Route(path, handle, methods=[method])


def respond(answer: Answer, status: int | None = None) -> Response:
    """Return the response that a handler's answer stands for."""
    if isinstance(answer, Response):
        return answer
    if answer is None:
        return Response(status_code=status or 204)
    return JSONResponse(answer, status or 200)


def fixed(answer: Mapping[str, Any]) -> Handler:
    """Return the handler that always answers the same."""

    async def handle(_: Request) -> Answer:
        return answer

    return handle


def boolean(text: str) -> bool:
    """Return the boolean value of a text in a query string; raises :class:`BadRequestError`."""
    lowered = text.strip().lower()
    if lowered in {"1", "true", "t", "yes", "y", "on", ""}:
        return True
    if lowered in {"0", "false", "f", "no", "n", "off"}:
        return False
    raise BadRequestError(f"'{text}' is not a boolean.")


class PageQuery(Struct, frozen=True):
    """The requested page of a list, and its order."""

    limit: int | None = None
    marker: str | None = None
    sort: tuple[tuple[str, str], ...] = ()  # pairs of field and direction (`asc` or `desc`)
    reverse: bool = False

    @staticmethod
    def parse(query: QueryParams, directions: str = "asc") -> "PageQuery":
        """Read ``limit``, ``marker``, ``sort_key``, ``sort_dir``, ``sort``, ``page_reverse``."""
        limit = query.get("limit")
        if limit is not None and not limit.isdecimal():
            raise BadRequestError(f"The limit must be a number of 0 or more, not '{limit}'.")
        keys = query.getlist("sort_key")
        dirs = query.getlist("sort_dir")
        pairs = [(key, dirs[i] if i < len(dirs) else directions) for i, key in enumerate(keys)]
        for term in query.get("sort", "").split(","):
            key, _, direction = term.partition(":")
            if key:
                pairs.append((key, direction or directions))
        for _, direction in pairs:
            if direction not in {"asc", "desc"}:
                raise BadRequestError(f"The sort direction must be asc or desc, not '{direction}'.")
        return PageQuery(
            limit=None if limit is None else int(limit),
            marker=query.get("marker") or None,
            sort=tuple(pairs),
            reverse=boolean(query.get("page_reverse", "false")),
        )


class Page(Struct, frozen=True):
    """One page of a list."""

    items: list[dict[str, Any]]
    more: bool  # there are items beyond this page, in the direction of the query


def page(
    documents: Iterable[dict[str, Any]],
    query: PageQuery,
    *,
    default_limit: int | None = None,
    max_limit: int = PAGE_LIMIT,
) -> Page:
    """Return the page of the documents; raises :class:`BadRequestError` for an unknown marker."""
    items = list(documents)
    for key, direction in reversed(query.sort):
        items.sort(key=_sort_value(key), reverse=direction == "desc")
    if query.reverse:
        items.reverse()
    if query.marker is not None:
        ids = [item["id"] for item in items]
        if query.marker not in ids:
            raise BadRequestError(f"The marker '{query.marker}' could not be found.")
        items = items[ids.index(query.marker) + 1 :]
    asked = query.limit if query.limit is not None else default_limit
    limit = max_limit if asked is None else min(asked, max_limit)
    chosen = items[:limit]
    if query.reverse:
        chosen.reverse()
    return Page(chosen, more=len(items) > limit and limit > 0)


def _sort_value(key: str) -> Callable[[dict[str, Any]], tuple[int, Any]]:
    def value(item: dict[str, Any]) -> tuple[int, Any]:
        found = item.get(key)
        if found is None:
            return (0, 0)
        return (1, found) if isinstance(found, int | float) else (2, str(found))

    return value


def fields(document: dict[str, Any], names: Sequence[str]) -> dict[str, Any]:
    """Return the document with only these fields, or with all if no name is given."""
    return {n: document[n] for n in names if n in document} if names else document


def without_trailing_slash(path: str) -> str:
    """Return the path as routes are written."""
    return path.rstrip("/") or "/"


def keystone_error(error: ApiError, request_id: str) -> Response:
    """Return an error as the identity API shows it."""
    title = HTTPStatus(error.status).phrase
    body = {"error": {"code": error.status, "message": error.message, "title": title}}
    return JSONResponse(body, error.status, error.headers)


_NOVA_NAMES = {
    400: "badRequest",
    401: "unauthorized",
    403: "forbidden",
    404: "itemNotFound",
    405: "badMethod",
    409: "conflictingRequest",
    413: "overLimit",
    415: "badMediaType",
    501: "notImplemented",
    503: "serviceUnavailable",
}


def nova_error(error: ApiError, request_id: str) -> Response:
    """Return an error as the compute and block storage APIs show it."""
    name = _NOVA_NAMES.get(error.status, "computeFault")
    body: dict[str, Any] = {"code": error.status, "message": error.message}
    if "Retry-After" in error.headers:
        body["retryAfter"] = error.headers["Retry-After"]
    return JSONResponse({name: body}, error.status, error.headers)


def neutron_error(error: ApiError, request_id: str) -> Response:
    """Return an error as the network API shows it."""
    fault = {"type": error.type, "message": error.message, "detail": error.detail}
    return JSONResponse({"NeutronError": fault}, error.status, error.headers)


def glance_error(error: ApiError, request_id: str) -> Response:
    """Return an error as the image API shows it."""
    phrase = HTTPStatus(error.status).phrase
    body = {"message": error.message, "code": f"{error.status} {phrase}", "title": phrase}
    return JSONResponse(body, error.status, error.headers)
