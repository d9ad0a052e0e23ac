"""A cloud, as one set of credentials reaches it: the value of ``call.cloud``.

Our own resource types send their requests with :meth:`Cloud.service`, which adds nothing to
keystoneauth but the version of the API. Plugins may also use every attribute of openstacksdk's
``Connection``: it is made, with the same session, when the first of these is read. Importing
openstacksdk takes 0.2 s of CPU time, and its proxies a fifth of the time of a request.
"""

from __future__ import annotations

from collections.abc import Mapping
from threading import Lock
from typing import Any

from stoker.clouds.credentials import ServiceAccess
from stoker.clouds.objects.remote_clouds import Place
from stoker.kernel.lazy import LazyModule

sdk = LazyModule("stoker.clouds.sdk")

# Lowest and highest major version of each API that resource types speak. The endpoint in the
# catalog may have another version or none; keystoneauth then reads the versions of the service.
_VERSIONS = {
    "alarm": (2, 2),
    "application-container": (1, 1),
    "baremetal": (1, 1),
    "block-storage": (2, 3),
    "compute": (2, 2),
    "container-infrastructure-management": (1, 1),
    "database": (1, 1),
    "dns": (2, 2),
    "identity": (3, 3),
    "image": (2, 2),
    "key-manager": (1, 1),
    "message": (2, 2),
    "orchestration": (1, 1),
    "reservation": (1, 1),
    "shared-file-system": (2, 2),
    "workflow": (2, 2),
}
# Services that need not list their versions. This path follows the endpoint in the catalog.
_FIXED_PATHS = {"load-balancer": "v2.0", "network": "v2.0", "object-store": ""}
_MOST_PLACES = 32
_importing = Lock()  # Modules of libraries that import each other break if two threads load them.


class Service:
    """A service of a cloud, which sends requests to its endpoint in the catalog."""

    def __init__(self, session: Any, filters: Mapping[str, Any]) -> None:
        self._session = session
        self._filters = filters

    def request(self, path: str, method: str, **options: Any) -> Any:
        """Return the response to a request, whatever its status is.

        ``options`` are those of keystoneauth's ``Session.request``. Raise its exceptions if there
        is no response or no such service.
        """
        return self._session.request(
            path, method, endpoint_filter=self._filters, raise_exc=False, **options
        )

    def get_endpoint(self, **filters: Any) -> str:
        """Return the URL of the service. ``filters`` precede the settings of the service."""
        return str(self._session.get_endpoint(**{**self._filters, **filters}))


class Cloud:
    """The services of a cloud. Safe to use from many threads; no request is sent on creation."""

    def __init__(
        self,
        session: Any,
        region: str | None,
        interface: str = "public",
        services: Mapping[str, ServiceAccess] | None = None,
    ) -> None:
        """``session`` is an :class:`~stoker.clouds.keystone.ObservedSession`."""
        self.session = session
        self.region = region
        self.interface = interface
        self._settings = services or {}
        self._services: dict[str, Service] = {}
        self._places: dict[Place, Cloud] = {}
        self._connection: Any = None

    @property
    def project_id(self) -> str | None:
        """Return the project of the credentials."""
        project_id: str | None = self.session.get_project_id()
        return project_id

    def service(self, service_type: str) -> Service:
        """Return a service by its official type, such as ``block-storage``."""
        found = self._services.get(service_type)
        if found is None:
            found = Service(self.session, self._filters(service_type))
            self._services[service_type] = found
        return found

    def offers(self, service_type: str) -> bool:
        """Return whether the catalog has an endpoint of a service."""
        return bool(self.session.is_in_catalog(self._endpoint(service_type)))

    def elsewhere(self, place: Place) -> Cloud:
        """Return another region or cloud, cached here. No request is sent yet."""
        found = self._places.get(place)
        if found is None:
            if len(self._places) >= _MOST_PLACES:
                self._places.clear()
            found = Cloud(self.session.session_for(place), place.region or self.region)
            self._places[place] = found
        return found

    def __getattr__(self, name: str) -> Any:
        """Return an attribute of the openstacksdk connection."""
        if name.startswith("_"):
            raise AttributeError(name)
        with _importing:
            if self._connection is None:
                self._connection = sdk.connection(
                    self.session, self.region, self.interface, self._settings
                )
        return getattr(self._connection, name)

    def _endpoint(self, service_type: str) -> dict[str, Any]:
        own = self._settings.get(service_type) or ServiceAccess()
        return {
            "service_type": service_type,
            "interface": own.interface or self.interface,
            "region_name": own.region or self.region,
        }

    def _filters(self, service_type: str) -> dict[str, Any]:
        """Return keystoneauth's filters for the endpoint of a service."""
        filters = self._endpoint(service_type)
        if service_type in _FIXED_PATHS:
            return {**filters, "fixed_path": _FIXED_PATHS[service_type]}
        if service_type in _VERSIONS:
            lowest, highest = _VERSIONS[service_type]
            return {**filters, "min_version": f"{lowest}", "max_version": f"{highest}.latest"}
        return filters
