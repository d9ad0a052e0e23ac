"""Types of the dependencies of the HTTP interfaces other than the engine.

So they do not depend on an identity service, a policy language or a database.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from typing import Protocol, TypeVar

from msgspec import Struct

from stoker.engine.model.clouds import FetchTemplate
from stoker.engine.model.requests import Caller

Answer = TypeVar("Answer")


# Authenticates a request with these headers (in lower case) and the project id of its path. Returns
# None for a request without valid credentials. Raises UnavailableError if the identity service does
# not respond.
Authenticate = Callable[[Mapping[str, str], str | None], Awaitable[Caller | None]]


class Compute(Protocol):
    """Runs long computations on threads, fairly between projects."""

    async def __call__(self, call: Callable[[], Answer]) -> Answer:
        """Return the result of ``call``."""


# Returns the texts of a container's objects by name, without the objects with the given names.
# Raises :class:`stoker.kernel.errors.RequestError`.
FetchFiles = Callable[[Caller, str, Collection[str]], Awaitable[Mapping[str, str]]]

# Returns the text of an object in a container of the caller's project. Raises
# :class:`stoker.kernel.errors.NotFoundError` if there is no such object, or no object store.
FetchObject = Callable[[Caller, str, str], Awaitable[str]]


class Fetching(Struct, frozen=True):
    """Reads templates and files that requests name by URL."""

    template: FetchTemplate
    files: FetchFiles


class VerifySignature(Protocol):
    """Checks EC2 signatures (versions 2 and 4)."""

    async def __call__(
        self,
        *,
        method: str,
        host: str,
        path: str,
        params: Mapping[str, str],
        headers: Mapping[str, str],
        body: bytes,
    ) -> Caller:
        """Return the caller whose key signed the request.

        Raises :class:`stoker.kernel.errors.RequestError` with AWS's code as error type:
        ``IncompleteSignature``, ``MissingAuthenticationToken``, ``InvalidClientTokenId``,
        ``SignatureDoesNotMatch``, ``AccessDenied`` or ``ServiceUnavailable``.
        """


class EngineView(Struct, frozen=True):
    """An engine process for operators; times in seconds since the epoch."""

    id: str
    engine_id: str
    host: str
    created_at: float
    updated_at: float
    up: bool


# Returns all engines that have reported recently.
Engines = Callable[[], Awaitable[Sequence[EngineView]]]
