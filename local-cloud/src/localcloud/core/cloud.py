"""What the services of the cloud share, and what the application asks of each of them.

A service package ``localcloud.<name>`` has a module ``routes`` with a function
``service(cloud: Cloud) -> Service``; the application mounts what that returns under its prefix.
Services that need each other within the process ask :meth:`Cloud.one`.
"""

from collections import Counter
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol, TypeVar, cast

from msgspec import Struct
from starlette.responses import Response
from starlette.routing import BaseRoute

from localcloud.core.clock import Clock, timestamp
from localcloud.core.settings import Settings
from localcloud.core.store import Store
from localcloud.fabric.interface import Exit, Fabric
from localcloud.web.http import ApiError, RequestContext, without_trailing_slash
from localcloud.web.permissions import Permit, by_role

T = TypeVar("T")


class TokenValidator(Protocol):
    """The part of the identity service that every other service needs."""

    def validate(self, token: str) -> RequestContext:
        """Return who the bearer is; raises :class:`localcloud.web.http.UnauthorizedError`."""


@dataclass
class Cloud:
    """The shared parts of one running cloud."""

    store: Store
    tokens: TokenValidator
    fabric: Fabric
    clock: Clock
    settings: Settings
    services: "Sequence[Service]" = ()
    """All services, set by the application before it starts any of them."""
    exit_listeners: list[Callable[[Exit], None]] = field(default_factory=list)
    """Called on the event loop when a server's first process ends. The application starts the
    fabric before any service, so listeners are added in the constructors of services."""
    held_bodies: Counter[str | None] = field(default_factory=Counter, repr=False)
    """Bytes of unfinished request bodies in memory by project."""
    _instances: dict[object, object] = field(default_factory=dict, repr=False)

    def now(self) -> str:
        """Return the present time as documents hold it."""
        return timestamp(self.clock.now())

    def server_ended(self, end: Exit) -> None:
        """Tell the listeners that a server's first process has ended."""
        for listener in self.exit_listeners:
            listener(end)

    def one(self, factory: Callable[["Cloud"], T]) -> T:
        """Return the one object that the factory (a class, usually) makes for this cloud."""
        if factory not in self._instances:
            self._instances[factory] = factory(self)
        return cast("T", self._instances[factory])


async def _nothing() -> None:
    pass


class Service(Struct, frozen=True):
    """A service as the application mounts it and the catalog shows it."""

    type: str
    """As in the catalog: ``compute``, ``network``, ``image``, ..."""
    name: str
    """As in the catalog: ``nova``, ``neutron``, ``glance``, ..."""
    prefix: str
    """Where it is mounted: ``/compute``."""
    endpoint: str
    """The catalog's URL below the root: ``/compute/v2.1``; may contain ``%(project_id)s``."""
    render: Callable[[ApiError, str], Response]
    """Makes the service's own error answer from an error and the request id."""
    public: Callable[[str, str], bool]
    """Tells by method and path (below the prefix) what needs no token."""
    versions: Sequence[Mapping[str, Any]]
    """The entries of this service in the version list at ``/``, as in its own version document."""
    routes: Callable[[], Sequence[BaseRoute]]
    """Makes the routes when the service is first asked, so that a cloud starts without loading what
    nobody uses. Their paths are below the prefix and without a trailing slash.

    The token has been checked before a handler runs (see :func:`localcloud.web.http.context`);
    every :class:`ApiError` that a handler raises becomes an answer by ``render``.
    """
    permit: Permit = by_role()
    """Refuses what the roles of a caller do not allow, before a handler runs."""
    other_types: Sequence[str] = ()
    """Under which the catalog shows it as well."""
    root_paths: Sequence[str] = ()
    """Paths outside the prefix that are this service's, too."""
    normalize: Callable[[str], str] = without_trailing_slash
    """Applied to the path before routing."""
    start: Callable[[], Awaitable[None]] = _nothing
    """Brings up what must run before the cloud says that it is ready."""
    stop: Callable[[], Awaitable[None]] = _nothing
    """Ends what ``start`` began."""
