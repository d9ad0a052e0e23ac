"""Protocols for the engine's use of clouds: connections, threads, types, meanings of errors."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from contextlib import AbstractAsyncContextManager
from typing import Any, Protocol, TypeVar

from stoker.engine.model.records import Stack
from stoker.kernel.errors import ValidationError
from stoker.kernel.load import Load
from stoker.schema.inventory import ExistingObject, NamedObject
from stoker.schema.quotas import Quota, QuotaKeys
from stoker.schema.resource_type import SignalCredentials
from stoker.template.definition import CustomCheck, NameLookup

Result = TypeVar("Result")
RunCall = Callable[[Callable[[], Any]], Awaitable[Any]]  # runs a call, and returns its result


class Workers(Protocol):
    """Runs calls of resource types: on the loop, or on threads for those that may block."""

    def load(self, service: str) -> Load:
        """Return the load of a service."""

    async def run(self, service: str | None, call: Callable[[], Result]) -> Result:
        """Return the result of ``call``; ``service`` names the endpoint that limits its calls."""

    def admission(self, service: str) -> AbstractAsyncContextManager[RunCall]:
        """Wait until the service admits a call. The context returns the function that runs it."""

    async def compute(self, call: Callable[[], Result]) -> Result:
        """Return the result of pure work that may take seconds, without blocking the loop.

        It counts for the project of ``stoker.kernel.time_limit.project``, so that projects do not
        wait for each other. Raises :class:`stoker.kernel.errors.LimitExceededError` if it takes too
        long.
        """


class Clouds(Protocol):
    """Access to the cloud of a stack. All methods block, so they run on worker threads."""

    def connection(self, stack: Stack) -> Any:
        """Return the value of ``call.cloud`` for resource types."""

    def lookup(self, stack: Stack, lookups: Sequence[NameLookup]) -> Sequence[str]:
        """Return the ids of named objects, in order.

        Raises :class:`stoker.kernel.errors.NotFoundError` with the name that does not exist.
        """

    def check(self, stack: Stack, checks: Sequence[CustomCheck]) -> Sequence[str | None]:
        """Return None for each custom constraint, or the reason why the value is wrong."""

    def known_faults(self, stack: Stack, checks: Sequence[CustomCheck]) -> Sequence[str | None]:
        """Return the same as :meth:`check`, and None if the cloud does not respond."""

    def lacking(
        self, stack: Stack, dependencies: Sequence[tuple[str, str]]
    ) -> Sequence[str | None]:
        """Return None for each service and extension ("" for none), or why it is missing."""

    def quotas(self, stack: Stack, use: QuotaKeys) -> Sequence[Quota]:
        """Return the quotas that a use of resources counts against, as far as services answer."""

    def inventory(self, stack: Stack) -> Sequence[ExistingObject]:
        """Return the objects of the project that can be imported, those first that others need."""

    def choices(self, stack: Stack, constraint: str, most: int) -> Sequence[NamedObject]:
        """Return up to ``most`` objects that a custom constraint accepts, by name.

        Raises NotFoundError for a constraint without a list, ForbiddenError if the cloud refuses
        the list to the user, and UnavailableError if it does not answer.
        """

    def console_log(self, stack: Stack, server_id: str, lines: int) -> str:
        """Return the last lines of the console output of a server.

        Raises NotFoundError for an unknown server, ForbiddenError if the cloud refuses the log to
        the user, and UnavailableError if it does not answer.
        """


class Faults(Protocol):
    """Classifies exceptions of a cloud."""

    def is_not_found(self, error: Exception) -> bool:
        """Return whether the error says that the object does not exist."""

    def lands_within(self, error: Exception) -> float:
        """Return the seconds within which the request may take effect; 0 if it never does."""

    def retry_after(self, error: Exception, attempt: int) -> float | None:
        """Return the seconds until the same call may succeed, or None if it never will."""

    def describe(self, error: Exception) -> str:
        """Return the message of the cloud in one line, with status and request id."""


class SignalCredentialsFactory(Protocol):
    """Creates :class:`stoker.schema.resource_type.SignalCredentials` for a stack."""

    def of(self, stack: Stack) -> SignalCredentials:
        """Return the credentials for the resources of a stack."""

    def close(self, stack: Stack) -> None:
        """Remove the Keystone project of the stack's signalling. Blocking."""


# Fetches the text at an address. Raises :class:`stoker.kernel.errors.RequestError`.
FetchTemplate = Callable[[str], Awaitable[str]]


async def fetch_nothing(url: str) -> str:
    """Raise ValidationError: the service is configured not to fetch templates."""
    raise ValidationError("this service fetches no templates")
