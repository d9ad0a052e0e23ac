"""Idempotency tokens of clients: a repeated request with the same token has no effect."""

from __future__ import annotations

from msgspec import Struct

from stoker.kernel.addresses import StackAddress


class ClientToken(Struct, frozen=True):
    """The token of a request."""

    text: str  # chosen by the client, unique for each request
    digest: str  # of the content of the request


class RequestWithToken(Struct, frozen=True):
    """A request that was recorded with a token."""

    stack: StackAddress
    digest: str
