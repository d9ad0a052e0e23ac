"""The objects that all services of a cloud share, and the base class of a service.

A package ``localcloud.<service>`` has a module ``service`` with a subclass of :class:`LazyService`.
The application mounts it under its prefix. A service reaches another one of the same process
through :meth:`Cloud.one`, which returns the same object to all callers.
"""

import importlib
from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Protocol, TypeVar, cast

from starlette.responses import Response
from starlette.routing import BaseRoute

from localcloud.core.clock import Clock, timestamp
from localcloud.core.settings import Settings
from localcloud.core.store import Store
from localcloud.fabric.interface import Exit, Fabric
from localcloud.web.http import (
    ApiError,
    RequestContext,
    fixed,
    route,
    without_trailing_slash,
)
from localcloud.web.permissions import Permit, by_role

T = TypeVar("T")


class TokenValidator(Protocol):
    """The part of the identity service that every other service needs."""

    def validate(self, token: str) -> RequestContext:
        """Return the owner of a token; raises :class:`localcloud.web.http.UnauthorizedError`."""


@dataclass
class Cloud:
    """The objects that the services of one running cloud share."""

    store: Store
    tokens: TokenValidator
    fabric: Fabric
    clock: Clock
    settings: Settings
    # Set by the application before it starts any service: identity lists them in its catalog.
    services: "Sequence[LazyService]" = ()
    # Called on the event loop when a server's first process ends. Services add their listeners in
    # the constructor, because the fabric starts before any service and may report immediately.
    exit_listeners: list[Callable[[Exit], None]] = field(default_factory=list)
    # Unfinished request bodies in memory, by project.
    held_body_bytes: Counter[str | None] = field(default_factory=Counter, repr=False)
    _instances: dict[object, object] = field(default_factory=dict, repr=False)

    def now(self) -> str:
        """Return the current time in the format of documents."""
        return timestamp(self.clock.now())

    def server_ended(self, end: Exit) -> None:
        """Notify the listeners that a server's first process has ended."""
        for listener in self.exit_listeners:
            listener(end)

    def one(self, factory: Callable[["Cloud"], T]) -> T:
        """Return the object that the factory, usually a class, made for this cloud."""
        if factory not in self._instances:
            self._instances[factory] = factory(self)
        return cast("T", self._instances[factory])


class LazyService:
    """A service, as mounted in the application and listed in the catalog.

    A subclass states where the service is mounted and names its modules. They are imported when a
    client first calls the service, or when the last process left work for it. A cloud starts in a
    second because it loads no service before its first use.

    The API works with the instance of the service. A service that other services use in the same
    process is its own instance.
    """

    type: str  # in the catalog: compute, network, image, ...
    name: str  # in the catalog: nova, neutron, glance, ...
    prefix: str
    endpoint: str  # path of the catalog's URL; may contain %(project_id)s
    other_types: Sequence[str] = ()  # further types in the catalog
    root_paths: Sequence[str] = ()  # paths outside the prefix that belong to the service
    open_paths: Collection[str] = ()  # need no token, like the version documents
    choice_paths: Collection[str] = ()  # version documents with the status 300 Multiple Choices
    api_module: str  # has a function `routes(instance)`
    instance_module: str = ""  # has a function `load(cloud)`
    render: Callable[[ApiError, str], Response]  # an error and a request ID as the API's response
    permit: Permit = staticmethod(by_role())

    def __init__(self, cloud: Cloud) -> None:
        self.cloud = cloud
        self.url = cloud.settings.url + self.prefix

    @cached_property
    def version(self) -> Mapping[str, Any] | None:
        """The entry of this service in the cloud's list of versions, if it has one."""
        return None

    @cached_property
    def documents(self) -> Mapping[str, Mapping[str, Any]]:
        """The version documents by path below the prefix."""
        return {} if self.version is None else {"/": {"versions": [self.version]}}

    @cached_property
    def instance(self) -> Any:
        """The object that the API works with. The first access loads and starts it."""
        if not self.instance_module:
            return self
        return importlib.import_module(self.instance_module).load(self.cloud)

    @property
    def is_loaded(self) -> bool:
        """Return whether the instance was created."""
        return "instance" in self.__dict__

    def routes(self) -> list[BaseRoute]:
        """Load the API and return its routes.

        Their paths are below the prefix and have no trailing slash. The token is checked before a
        handler runs (see :func:`localcloud.web.http.context`), and every :class:`ApiError` that a
        handler raises becomes a response by ``render``.
        """
        api = importlib.import_module(self.api_module)
        return [*self.version_routes(), *api.routes(self.instance)]

    def version_routes(self) -> list[BaseRoute]:
        """Return the routes of the version documents."""
        return [
            route("GET", path, fixed(document), 300 if path in self.choice_paths else None)
            for path, document in self.documents.items()
        ]

    def is_public(self, method: str, path: str) -> bool:
        """Return whether a request needs no token."""
        return path in self.documents or path in self.open_paths

    def normalize(self, path: str) -> str:
        """Return a path below the prefix in the form of routes, without a trailing slash."""
        return without_trailing_slash(path)

    def has_unfinished_work(self) -> bool:
        """Return whether the last process left work, for which the service must be loaded."""
        return False

    async def start(self) -> None:
        """Resume unfinished work of the last process, before the cloud reports that it is ready."""
        if self.has_unfinished_work():
            _ = self.instance

    async def stop(self) -> None:
        """End the background work. The next start resumes it."""
        if self.is_loaded and self.instance is not self:
            await self.instance.stop()
