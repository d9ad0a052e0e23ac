"""What the HTTP interfaces need besides the engine, as Protocols, so that they know no identity
service, no policy language and no database.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, TypeVar

from stoker.engine.model.requests import Caller

Answer = TypeVar("Answer")


class Authenticate(Protocol):
    """Tells who sends a request."""

    async def __call__(self, headers: Mapping[str, str], project_id: str | None) -> Caller | None:
        """The caller, or None when the request does not prove who sends it.

        ``headers`` have lower-case names; ``project_id`` is the one in the path. Raises
        :class:`stoker.kernel.errors.Refused` (``ServiceUnavailable``) when nobody can tell.
        """


class Compute(Protocol):
    """Computes what takes long beside the event loop, fairly between projects."""

    async def __call__(self, call: Callable[[], Answer]) -> Answer:
        """What ``call`` returns or raises."""


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
        """The caller whose key signed the request.

        Raises :class:`stoker.kernel.errors.Refused` with AWS's code as error type:
        ``IncompleteSignature``, ``MissingAuthenticationToken``, ``InvalidClientTokenId``,
        ``SignatureDoesNotMatch``, ``AccessDenied`` or ``ServiceUnavailable``.
        """


class Policy(Protocol):
    """Which callers may do what."""

    def allows(self, rule: str, caller: Caller) -> bool:
        """Whether a rule, as ``stacks:create``, lets the caller through."""


class Catalogue(Protocol):
    """What can stand in a template: resource types, template versions and their functions."""

    def resource_types(
        self, *, support_status: str | None, version: str | None
    ) -> Sequence[tuple[str, str]]:
        """Name and description of every type, sorted by name.

        Raises :class:`stoker.kernel.errors.Invalid` for a support status that does not exist.
        """

    def resource_type(self, name: str, *, with_description: bool) -> Mapping[str, Any]:
        """The API's description of a type.

        Raises :class:`stoker.kernel.errors.NotFound`, or ``NotSupported`` for a hidden type.
        """

    def resource_type_template(self, name: str, dialect: str) -> Mapping[str, Any]:
        """A template that wraps the type; ``dialect`` is ``hot`` or ``cfn``."""

    def template_versions(self) -> Sequence[Mapping[str, Any]]:
        """``version``, ``type`` and ``aliases`` of every template version."""

    def template_functions(
        self, version: str, *, with_conditions: bool
    ) -> Sequence[Mapping[str, Any]]:
        """``functions`` and ``description`` of every function of a version, sorted.

        Raises :class:`stoker.kernel.errors.NotFound` for an unknown version.
        """


@dataclass(frozen=True, slots=True)
class EngineView:
    """An engine process as operators see it; times in seconds since the epoch."""

    id: str
    engine_id: str
    host: str
    binary: str
    topic: str
    report_interval: int
    created_at: float
    updated_at: float
    up: bool


class Engines(Protocol):
    """The engine processes that are there."""

    async def __call__(self) -> Sequence[EngineView]:
        """All that have reported lately."""
