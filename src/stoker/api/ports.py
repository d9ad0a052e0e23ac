"""Protocols for dependencies of the HTTP interfaces other than the engine.

So they do not depend on an identity service, a policy language or a database.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Protocol, TypeVar

from msgspec import Struct

from stoker.engine.model.clouds import FetchTemplate
from stoker.engine.model.requests import Caller

Answer = TypeVar("Answer")


class Authenticate(Protocol):
    """Authenticates a request."""

    async def __call__(self, headers: Mapping[str, str], project_id: str | None) -> Caller | None:
        """Return the caller, or None if the request is not authenticated.

        ``headers`` have lower-case names; ``project_id`` is the one in the path. Raises
        :class:`stoker.kernel.errors.RequestError` (``ServiceUnavailable``) if the identity service
        does not respond.
        """


class Compute(Protocol):
    """Runs long computations on threads, fairly between projects."""

    async def __call__(self, call: Callable[[], Answer]) -> Answer:
        """Return the result of ``call``."""


class FetchFiles(Protocol):
    """Reads files from the object store."""

    async def __call__(
        self, caller: Caller, container: str, without: Collection[str]
    ) -> Mapping[str, str]:
        """Return the texts of a container's objects by name, except those ``without``.

        Raises :class:`stoker.kernel.errors.RequestError`.
        """


class FetchObject(Protocol):
    """Reads one object of the object store."""

    async def __call__(self, caller: Caller, container: str, name: str) -> str:
        """Return the text of an object of the caller's project.

        Raises :class:`stoker.kernel.errors.NotFoundError` without the object or an object store,
        and :class:`stoker.kernel.errors.RequestError`.
        """


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


class Engines(Protocol):
    """The existing engine processes."""

    async def __call__(self) -> Sequence[EngineView]:
        """Return all engines that have reported recently."""
