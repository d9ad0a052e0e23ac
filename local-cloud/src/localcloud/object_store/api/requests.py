"""From a request to a call: its path taken apart, its bearer known, its signature checked."""

from collections.abc import Awaitable, Callable
from urllib.parse import unquote_to_bytes

from msgspec.structs import replace
from starlette.convertors import PathConvertor, register_url_convertor
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from localcloud.core.cloud import Cloud
from localcloud.object_store.api.call import Call
from localcloud.object_store.api.temporary_urls import grant
from localcloud.object_store.errors import ObjectStoreError, transaction
from localcloud.object_store.model.records import Records
from localcloud.web.http import RequestContext, UnauthorizedError, announce, route

ACCOUNT = "/{account}"
CONTAINER = ACCOUNT + "/{container}"
OBJECT = CONTAINER + "/{object:name}"
_UNPACKING = "extract-archive"

Answering = Callable[[Call], Awaitable[Response]]


class _Name(PathConvertor):
    """The name of an object: all the rest of a path, line ends as well."""

    regex = r"[\s\S]+"


register_url_convertor("name", _Name())


class Requests:
    """Makes the routes of handlers of calls."""

    def __init__(self, cloud: Cloud, records: Records) -> None:
        self._tokens = cloud.tokens
        self._records = records

    def route(self, method: str, path: str, answer: Answering) -> Route:
        """Return the route of a handler."""

        async def handle(request: Request) -> Response:
            response = await answer(self._call(request))
            response.headers["x-trans-id"] = transaction(request.state.request_id)
            return response

        return route(method, path, handle)

    def _call(self, request: Request) -> Call:
        # The decoded path does not show whether its bytes were valid UTF-8.
        raw = unquote_to_bytes(request.scope.get("raw_path") or b"")
        try:
            raw.decode()
        except UnicodeDecodeError:
            raise ObjectStoreError(412, "Invalid UTF8 or contains NULL") from None
        if b"\0" in raw:
            raise ObjectStoreError(412, "Invalid UTF8 or contains NULL")
        if _UNPACKING in request.query_params:
            raise ObjectStoreError(501, f"{_UNPACKING}: this cloud unpacks no archives.")
        found = request.path_params
        call = Call(
            request,
            found["account"],
            found.get("container", ""),
            found.get("object", ""),
            self._bearer(request),
        )
        call = replace(call, grant=grant(call, self._records))
        if call.who is not None:
            announce(request, call.who)
        elif call.grant is not None:
            announce(request, RequestContext("", project_id=call.account))
        return call

    def _bearer(self, request: Request) -> RequestContext | None:
        """Return who asks; None where no valid token says so."""
        token = request.headers.get("x-auth-token") or request.headers.get("x-storage-token")
        if not token:
            return None
        try:
            return self._tokens.validate(token)
        except UnauthorizedError:
            return None
