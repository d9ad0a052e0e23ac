"""The application at ``/v1/?Action=...``: from an HTTP request to its response.

A signature of version 4 covers the body, and one of version 2 may be in the body. So the body is
read before its sender is known.
"""

from __future__ import annotations

from typing import Any

from msgspec import Struct
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.types import ASGIApp

from stoker.api.aws_answers import REQUEST_ID
from stoker.api.cfn.actions import ACTIONS
from stoker.api.cfn.call import Api, Call
from stoker.api.cfn.client_tokens import client_token
from stoker.api.cfn.faults import fault
from stoker.api.cfn.handlers.unavailable import UNAVAILABLE
from stoker.api.cfn.pages import last_shown
from stoker.api.interface import check_address, interface, path_of, read_body
from stoker.api.query_answers import answer
from stoker.api.query_parameters import parameters_of
from stoker.api.signed import Senders
from stoker.engine.model.interfaces import Policy
from stoker.kernel.diagnostics import did_you_mean
from stoker.kernel.errors import (
    ACCESS_DENIED,
    HTTP_NOT_FOUND,
    INVALID_ACTION,
    ForbiddenError,
    NotFoundError,
    ValidationError,
)
from stoker.kernel.time_limit import project
from stoker.kernel.values import replace

PATHS = ("/v1", "/v1/")  # paths of the API; clients send either
_ROOT = ("", "/")


def application(api: Api, senders: Senders, policy: Policy) -> ASGIApp:
    """Return the API as an application; its path is that of the version."""
    return interface(_Queries(api, senders, policy).respond, fault, REQUEST_ID)


class _Queries(Struct, frozen=True):
    api: Api
    senders: Senders
    policy: Policy

    async def respond(self, request: Request, request_id: str) -> Response:
        """Return the response to a request."""
        if path_of(request) in _ROOT:
            return JSONResponse(_versions(request), 300)
        if path_of(request) not in PATHS:
            raise NotFoundError("Nothing is served at this address.", HTTP_NOT_FOUND)
        check_address(request)
        body = await read_body(request, self.api.settings.max_body_size)
        parameters = await parameters_of(request, body, self.api.compute)
        caller = await self.senders.sender(request, parameters, body)
        project.set(caller.project_id)
        action = parameters.get("Action", "")
        respond = ACTIONS.get(action)
        if respond is None:
            near = did_you_mean(action, ACTIONS)
            hint = "" if near is None else f"; {near}"
            raise ValidationError(f'"{action:.100}" is not an action{hint}', INVALID_ACTION)
        known_here = action not in UNAVAILABLE
        if known_here and not self.policy.allows(f"cloudformation:{action}", caller):
            message = f"The policy cloudformation:{action} does not allow this to you."
            raise ForbiddenError(message, ACCESS_DENIED)
        caller = replace(caller, request_id=request_id, client=client_token(parameters))
        call = Call(self.api, caller, parameters)
        last_shown(call)  # actions without lists also reject the token of another list
        as_json = parameters.get("ContentType") == "JSON"
        return await answer(action, await respond(call), self.api.compute, as_json=as_json)


def _versions(request: Request) -> dict[str, Any]:
    """Return the versions of the API in the form of the orchestration API."""
    here = {"rel": "self", "href": str(request.base_url.replace(path=PATHS[1]))}
    return {"versions": [{"id": "v1.0", "status": "CURRENT", "links": [here]}]}
