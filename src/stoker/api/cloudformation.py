"""The CloudFormation endpoint: the query API, and the signed URLs for signals."""

from __future__ import annotations

from starlette.requests import Request
from starlette.types import ASGIApp, Receive, Scope, Send

from stoker.api.cfn.app import PATHS
from stoker.api.interface import path_of


def endpoint(queries: ASGIApp, signals: ASGIApp) -> ASGIApp:
    """Return both as one application; ``signals`` answers for unknown paths."""

    async def application(scope: Scope, receive: Receive, send: Send) -> None:
        chosen = queries if path_of(Request(scope)) in PATHS else signals
        await chosen(scope, receive, send)

    return application
