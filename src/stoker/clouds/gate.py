"""Everything that the service needs of a cloud, made from one set of options."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Protocol

from stoker.clouds.access import CloudAccess, CloudFaults
from stoker.clouds.credentials import Credentials, Endpoints, Token, Trust
from stoker.clouds.lookups import Lookups
from stoker.clouds.sessions import Sessions
from stoker.clouds.workers import Workers
from stoker.kernel.clock import Clock


class HasCredentials(Protocol):
    """A stack, as far as this package is concerned."""

    @property
    def credentials(self) -> Mapping[str, Any]:
        """A trust, or the token of a request under way."""


class CloudGate:
    """Connections, lookups, threads and faults."""

    def __init__(self, endpoints: Endpoints, clock: Clock) -> None:
        self.workers = Workers(clock)
        self._sessions = Sessions(endpoints, clock, self.workers.observe)
        self._lookups = Lookups(clock)
        self.access: CloudAccess[HasCredentials] = CloudAccess(
            self._sessions, self._lookups, credentials_of
        )
        self.faults = CloudFaults()

    @property
    def load(self) -> Callable[[], None]:
        """Imports the SDK ahead of the first call; blocks for about half a second."""
        return self._sessions.load

    def close(self) -> None:
        """Close connections and threads."""
        self.workers.close()
        self._lookups.close()
        self._sessions.close()


def credentials_of(stack: HasCredentials) -> Credentials:
    """Who acts for a stack: its trust, or the user whose request it is."""
    kept = stack.credentials
    if "trust_id" in kept:
        return Trust(kept["trust_id"], kept.get("project_id"))
    return Token(kept["token"], kept.get("project_id"))
