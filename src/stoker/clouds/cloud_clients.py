"""Builds everything that uses a cloud from one set of options."""

from __future__ import annotations

from collections.abc import Callable

from stoker.clouds.cloud_access import CloudAccess
from stoker.clouds.credentials import Endpoints, Password
from stoker.clouds.objects.lookups import Lookups
from stoker.clouds.sessions import Sessions
from stoker.clouds.web.containers import ContainerFiles
from stoker.clouds.web.temporary_urls import TemporaryUrls
from stoker.clouds.workers import Workers
from stoker.kernel.clock import Clock


class CloudClients:
    """Connections, lookups and threads."""

    def __init__(
        self, endpoints: Endpoints, clock: Clock, called: Callable[[str, int, float, str], None]
    ) -> None:
        """``called`` is called after each call with service, status (0 for none), seconds and
        kind."""
        self.workers = Workers(clock)
        self._called = called
        self._clock = clock
        self._sessions = Sessions(endpoints, clock, self._observe)
        self._lookups = Lookups(clock)
        self.access = CloudAccess(self._sessions, self._lookups)

    @property
    def load(self) -> Callable[[], None]:
        """Import keystoneauth before the first call. Blocks for about 0.1 s."""
        return self._sessions.load

    def _observe(
        self, service: str, status: int, seconds: float, pause: float | None, kind: str
    ) -> None:
        self._called(service, status, seconds, kind)
        if status:  # Without a response, the load of the service is unknown.
            self.workers.observe(service, status, seconds, pause, kind)

    def container_files(self, most_bytes: int) -> ContainerFiles:
        """Return a reader for files in containers of at most ``most_bytes``."""
        return ContainerFiles(self._sessions, self.workers, most_bytes)

    def temporary_urls(self, user: Password) -> TemporaryUrls:
        """Return a check for temporary URLs of the object store in the user's catalog."""
        return TemporaryUrls(self._sessions, self.workers, user, self._clock)

    def close(self) -> None:
        """Close connections and threads."""
        self.workers.close()
        self._lookups.close()
        self._sessions.close()
