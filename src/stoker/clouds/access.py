"""The cloud as the engine asks for it: by stack."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Generic, TypeVar

from stoker.clouds import faults
from stoker.clouds.credentials import Credentials
from stoker.clouds.lookups import Lookups
from stoker.clouds.sessions import Sessions
from stoker.schema.pending import CustomCheck, NameLookup

Stack = TypeVar("Stack", contravariant=True)


class CloudAccess(Generic[Stack]):
    """Connections, lookups and checks for stacks. All methods block; run them on workers.

    ``credentials_of`` says who acts for a stack: the token of a request that is under way, or
    the trust that the stack keeps.
    """

    def __init__(
        self,
        sessions: Sessions,
        lookups: Lookups,
        credentials_of: Callable[[Stack], Credentials],
    ) -> None:
        self._sessions = sessions
        self._lookups = lookups
        self._credentials_of = credentials_of

    def connection(self, stack: Stack) -> Any:
        """What resource types get as ``call.cloud``."""
        return self._sessions.connection(self._credentials_of(stack))

    def lookup(self, stack: Stack, lookups: Sequence[NameLookup]) -> Sequence[str]:
        """The ids that names stand for, in order.

        Raises :class:`stoker.kernel.errors.NotFound` for a name that means nothing or too much.
        """
        wanted = [(item.finder, item.value) for item in lookups]
        return self._lookups.find_many(self.connection(stack), wanted) if wanted else []

    def check(self, stack: Stack, checks: Sequence[CustomCheck]) -> Sequence[str | None]:
        """For each custom constraint None, or what is wrong with the value."""
        wanted = [(item.constraint, item.value) for item in checks]
        return self._lookups.check_many(self.connection(stack), wanted) if wanted else []


class CloudFaults:
    """What an exception of a cloud means, as the engine asks for it."""

    def is_not_found(self, error: Exception) -> bool:
        """Whether the object does not exist."""
        return faults.is_not_found(error)

    def lands_within(self, error: Exception) -> float:
        """Seconds within which the request may still be done, or has been; 0 if it never is."""
        return faults.lands_within(error)

    def retry_after(self, error: Exception, attempt: int) -> float | None:
        """Seconds until the same call may succeed, or None when it never will."""
        return faults.retry_after(error, attempt)

    def describe(self, error: Exception) -> str:
        """The cloud's own words, with status and request id; one line."""
        return faults.describe(error)
