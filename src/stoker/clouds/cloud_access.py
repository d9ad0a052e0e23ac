"""The engine's access to clouds, by stack."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, Protocol
from urllib.parse import quote

from stoker.clouds.credentials import Credentials, Token, Trust, UserPassword
from stoker.clouds.faults import NOT_FOUND, describe, is_cloud_fault, status_of
from stoker.clouds.objects.collection import send
from stoker.clouds.objects.inventory import inventory
from stoker.clouds.objects.kinds import KINDS, finder_of
from stoker.clouds.objects.lookups import Lookups
from stoker.clouds.objects.quotas import quotas_for
from stoker.clouds.sessions import Sessions
from stoker.kernel.errors import ForbiddenError, NotFoundError, RequestError, UnavailableError
from stoker.schema.constraints import CustomCheck
from stoker.schema.inventory import ExistingObject, NamedObject
from stoker.schema.properties import NameLookup
from stoker.schema.quotas import Quota, QuotaKeys

_ERRORS: Mapping[int, type[RequestError]] = {403: ForbiddenError, NOT_FOUND: NotFoundError}


class HasCredentials(Protocol):
    """A stack, as far as this package needs it."""

    @property
    def project_id(self) -> str:
        """Return the id of the project."""

    @property
    def credentials(self) -> Mapping[str, Any]:
        """Return a trust, a user's password, or the token of the current request."""


class CloudAccess:
    """Connections, lookups and checks for stacks.

    All methods block; call them on worker threads.
    """

    def __init__(self, sessions: Sessions, lookups: Lookups) -> None:
        self._sessions = sessions
        self._lookups = lookups

    def connection(self, stack: HasCredentials) -> Any:
        """Return the value of ``call.cloud`` for resource types."""
        return self._sessions.connection(credentials_of(stack))

    def lookup(self, stack: HasCredentials, lookups: Sequence[NameLookup]) -> Sequence[str]:
        """Return the ids of named objects, in order.

        Raise :class:`stoker.kernel.errors.NotFoundError` for an unknown or ambiguous name.
        """
        items = [(item.finder, item.value) for item in lookups]
        return self._lookups.find_many(self.connection(stack), items) if items else []

    def check(self, stack: HasCredentials, checks: Sequence[CustomCheck]) -> Sequence[str | None]:
        """Return None for each custom constraint, or the reason why the value is wrong."""
        return self._lookups.check_many(self.connection(stack), _values(checks)) if checks else []

    def known_faults(
        self, stack: HasCredentials, checks: Sequence[CustomCheck]
    ) -> Sequence[str | None]:
        """Check the constraints as in ``check``; None also if the cloud does not respond."""
        return self._lookups.known_faults(self.connection(stack), _values(checks)) if checks else []

    def lacking(
        self, stack: HasCredentials, dependencies: Sequence[tuple[str, str]]
    ) -> Sequence[str | None]:
        """Return for each service and extension the reason why the cloud lacks it, or None."""
        cloud = self.connection(stack)
        try:
            extensions = (
                _extensions(cloud) if any(extension for _, extension in dependencies) else ()
            )
            return [_lack(cloud, service, name, extensions) for service, name in dependencies]
        except Exception as fault:
            if not is_cloud_fault(fault):
                raise
            return [None] * len(dependencies)  # Unknown. The first call will find out.

    def quotas(self, stack: HasCredentials, use: QuotaKeys) -> Sequence[Quota]:
        """Return the quotas that a use of resources counts against, as far as services answer."""
        return quotas_for(self.connection(stack), self._lookups, use)

    def inventory(self, stack: HasCredentials) -> Sequence[ExistingObject]:
        """Return the objects of the project that can be imported, those first that others need."""
        with _cloud_faults_as_errors():
            return inventory(self.connection(stack), stack.project_id)

    def choices(self, stack: HasCredentials, constraint: str, most: int) -> Sequence[NamedObject]:
        """Return up to ``most`` objects that a custom constraint accepts, by name.

        Raises NotFoundError for a constraint without a list, ForbiddenError if the cloud refuses
        the list to the user, and UnavailableError if it does not answer.
        """
        finder = finder_of(constraint)
        collection = KINDS.get((finder.service, finder.kind))
        if collection is None:
            raise NotFoundError(f"there is no list of objects for the constraint {constraint[:80]}")
        with _cloud_faults_as_errors():
            found = collection.select(self.connection(stack))
        named = [
            NamedObject(str(each[collection.id_field]), str(each.get(collection.name_field) or ""))
            for each in found
        ]
        return sorted(named, key=lambda each: (each.name or each.id, each.id))[:most]

    def console_log(self, stack: HasCredentials, server_id: str, lines: int) -> str:
        """Return the last lines of the console output of a server.

        Raises NotFoundError for an unknown server, ForbiddenError if the cloud refuses the log to
        the user, and UnavailableError if it does not answer.
        """
        action = {"os-getConsoleOutput": {"length": lines}}
        path = f"/servers/{quote(server_id, '')}/action"
        with _cloud_faults_as_errors():
            answer = send(self.connection(stack).service("compute"), "POST", path, json=action)
        return str(answer.get("output") or "")


@contextmanager
def _cloud_faults_as_errors() -> Iterator[None]:
    """Raise a fault of a cloud as RequestError with the words of the service."""
    try:
        yield
    except RequestError:
        raise
    except Exception as fault:
        if not is_cloud_fault(fault):
            raise
        kind = _ERRORS.get(status_of(fault) or 0, UnavailableError)
        raise kind(describe(fault)) from fault


def _values(checks: Sequence[CustomCheck]) -> Sequence[tuple[str, Any]]:
    return [(item.constraint, item.value) for item in checks]


def _extensions(cloud: Any) -> Collection[str]:
    answer = send(cloud.service("network"), "GET", "/extensions")
    return {entry["alias"] for entry in answer.get("extensions", [])}


def _lack(cloud: Any, service: str, extension: str, extensions: Collection[str]) -> str | None:
    if not cloud.offers(service):
        return "Service endpoint not in service catalog."
    if extension and extension not in extensions:
        return f"Required extension {extension} in {service} service is not available."
    return None


def credentials_of(stack: HasCredentials) -> Credentials:
    """Return the credentials of a stack: its trust, its user, or the user of the request."""
    stored = stack.credentials
    if "password" in stored:
        return UserPassword(stored["user_id"], stored["password"], stored["project_id"])
    if "trust_id" in stored:
        return Trust(stored["trust_id"], stored.get("project_id"))
    return Token(stored["token"])
