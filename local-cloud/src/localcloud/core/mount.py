"""The ASGI application around each service.

A request comes in with its path below the prefix. It gets an ID, its token is checked, and the
router of the service calls the handler. Every error becomes a response in the service's own format,
with the same ID; an unexpected one is logged and reveals nothing else.
"""

import logging
from collections.abc import Iterable, MutableMapping, Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any, TypeGuard
from uuid import uuid4

from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.routing import BaseRoute, Route, Router
from starlette.types import Receive, Scope, Send

from localcloud.core.cloud import Cloud, LazyService
from localcloud.web.http import (
    ApiError,
    MethodNotAllowedError,
    NotFoundError,
    UnauthorizedError,
    announce,
)

_LOG = logging.getLogger(__name__)
_PATH_LIMIT = 8192


class ServiceApp:
    """An ASGI application that serves one service of the cloud."""

    def __init__(self, cloud: Cloud, service: LazyService) -> None:
        self._cloud = cloud
        self._service = service

    @cached_property
    def _routing(self) -> "_Routing":
        # The first request loads the API of the service.
        return _Routing(self._service.routes())

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request. ``scope["path"]`` is below the prefix already."""
        request_id = f"req-{uuid4()}"
        started = False

        async def send_with_id(message: MutableMapping[str, Any]) -> None:
            nonlocal started
            if message["type"] == "http.response.start":
                started = True
                headers = list(message.get("headers", []))
                headers.append((b"x-openstack-request-id", request_id.encode()))
                message = {**message, "headers": headers}
            await send(message)

        try:
            await self._handle(scope, receive, send_with_id, request_id)
        except ApiError as error:
            await self._fail(error, request_id, scope, receive, send_with_id)
        except HTTPException as error:
            fault = _from_starlette(error, scope)
            await self._fail(fault, request_id, scope, receive, send_with_id)
        except ClientDisconnect:
            _LOG.info("%s %s: the client went away", scope["method"], scope["path"])
        except Exception:
            _LOG.exception("%s %s failed (%s)", scope["method"], scope["path"], request_id)
            # The response has started. Only a closed connection can show that it is incomplete.
            if started:
                raise
            fault = ApiError(f"An unexpected error occurred; the log names it by {request_id}.")
            await self._fail(fault, request_id, scope, receive, send_with_id)

    async def _handle(self, scope: Scope, receive: Receive, send: Send, request_id: str) -> None:
        path = self._service.normalize(scope["path"])
        if len(path) > _PATH_LIMIT:
            raise NotFoundError("The resource could not be found.")
        scope = {**scope, "path": path, "root_path": "", "app": self}
        state = scope["state"] = {**(scope.get("state") or {}), "request_id": request_id}
        state["held_bodies"] = self._cloud.held_body_bytes
        request = Request(scope)
        token = request.headers.get("x-auth-token")
        is_public = self._service.is_public(scope["method"], path)
        # A token on a public path is not checked, so that an expired one does no harm.
        if token and not is_public:
            caller = replace(self._cloud.tokens.validate(token), request_id=request_id)
            self._service.permit(caller, scope["method"], path)
            state["context"] = caller
            announce(request, caller)
        elif not is_public:
            raise UnauthorizedError("The request you have made requires authentication.")
        await self._routing.of(path)(scope, receive, send)

    async def _fail(
        self, error: ApiError, request_id: str, scope: Scope, receive: Receive, send: Send
    ) -> None:
        response = self._service.render(error, request_id)
        if error.status == UnauthorizedError.status:
            response.headers.setdefault(
                "WWW-Authenticate", f'Keystone uri="{self._cloud.settings.url}/identity"'
            )
        await response(scope, receive, send)


class _Routing:
    """The routes of a service, by the head of their paths."""

    def __init__(self, routes: Sequence[BaseRoute]) -> None:
        heads = {_head(route.path) for route in routes if _has_literal_head(route)}
        self._routers = {
            head: _router(r for r in routes if not _has_literal_head(r) or _head(r.path) == head)
            for head in heads
        }
        self._rest = _router(route for route in routes if not _has_literal_head(route))

    def of(self, path: str) -> Router:
        """Return the router for a path."""
        return self._routers.get(_head(path), self._rest)


def _head(path: str) -> str:
    """Return the first two segments of a path: routes are looked for among those that share it."""
    return "/".join(path.split("/", 3)[:3])


def _has_literal_head(route: BaseRoute) -> TypeGuard[Route]:
    return isinstance(route, Route) and "{" not in _head(route.path)


def _router(routes: Iterable[BaseRoute]) -> Router:
    return Router(list(routes), redirect_slashes=False)


def _from_starlette(error: HTTPException, scope: Scope) -> ApiError:
    if error.status_code == NotFoundError.status:
        return NotFoundError("The resource could not be found.")
    if error.status_code == MethodNotAllowedError.status:
        return MethodNotAllowedError(
            f"The method {scope['method']} is not allowed for this resource.",
            headers=dict(error.headers or {}),
        )
    return ApiError(str(error.detail), status=error.status_code)


def strip_prefix(path: str, prefix: str) -> str | None:
    """Return the path below the prefix, or None where the path is not under it."""
    if path == prefix:
        return "/"
    return path[len(prefix) :] if path.startswith(prefix + "/") else None
