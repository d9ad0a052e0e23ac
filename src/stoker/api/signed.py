"""Authenticates senders of requests that are signed with an EC2 key, or have a token."""

from __future__ import annotations

from collections.abc import Mapping

from msgspec import Struct
from starlette.requests import Request

from stoker.api.ports import Authenticate, VerifySignature
from stoker.engine.model.requests import Caller
from stoker.kernel.errors import ACCESS_DENIED, ForbiddenError


class Senders(Struct, frozen=True):
    """Identifies the sender of a request."""

    verify: VerifySignature
    authenticate: Authenticate

    async def sender(
        self, request: Request, parameters: Mapping[str, str], body: bytes = b""
    ) -> Caller:
        """Return the sender of a request; ``parameters`` are those of the query and of a form.

        Raises the errors of :class:`stoker.api.ports.VerifySignature`.
        """
        if "x-auth-token" in request.headers and not _is_signed(request, parameters):
            caller = await self.authenticate(request.headers, None)
            if caller is None:
                raise ForbiddenError("The token is not valid.", ACCESS_DENIED)
            return caller
        return await self.verify(
            method=request.method,
            host=request.headers.get("host", ""),
            path=request.scope["path"],
            params=parameters,
            headers=dict(request.headers),
            body=body,
        )


def covers_body(request: Request) -> bool:
    """Return whether the signature of a request, if it has one, is over its body as well."""
    query = request.query_params
    in_headers = "X-Amz-Signature" in query or "authorization" in request.headers
    return in_headers and "Signature" not in query


def _is_signed(request: Request, parameters: Mapping[str, str]) -> bool:
    names = ("Signature", "X-Amz-Signature")
    return "authorization" in request.headers or any(name in parameters for name in names)
