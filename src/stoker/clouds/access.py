"""The cloud as the engine asks for it: by stack."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

from stoker.clouds.credentials import Credentials, Token, Trust
from stoker.clouds.lookups import Lookups
from stoker.clouds.sessions import Sessions
from stoker.schema.constraints import CustomCheck
from stoker.schema.properties import NameLookup


class HasCredentials(Protocol):
    """A stack, as far as this package is concerned."""

    @property
    def credentials(self) -> Mapping[str, Any]:
        """A trust, or the token of a request under way."""


class CloudAccess:
    """Connections, lookups and checks for stacks. All methods block; run them on workers."""

    def __init__(self, sessions: Sessions, lookups: Lookups) -> None:
        self._sessions = sessions
        self._lookups = lookups

    def connection(self, stack: HasCredentials) -> Any:
        """What resource types get as ``call.cloud``."""
        return self._sessions.connection(credentials_of(stack))

    def lookup(self, stack: HasCredentials, lookups: Sequence[NameLookup]) -> Sequence[str]:
        """The ids that names stand for, in order.

        Raises :class:`stoker.kernel.errors.NotFound` for a name that means nothing or too much.
        """
        wanted = [(item.finder, item.value) for item in lookups]
        return self._lookups.find_many(self.connection(stack), wanted) if wanted else []

    def check(self, stack: HasCredentials, checks: Sequence[CustomCheck]) -> Sequence[str | None]:
        """For each custom constraint None, or what is wrong with the value."""
        wanted = [(item.constraint, item.value) for item in checks]
        return self._lookups.check_many(self.connection(stack), wanted) if wanted else []


def credentials_of(stack: HasCredentials) -> Credentials:
    """Who acts for a stack: its trust, or the user whose request it is."""
    kept = stack.credentials
    if "trust_id" in kept:
        return Trust(kept["trust_id"], kept.get("project_id"))
    return Token(kept["token"], kept.get("project_id"))
