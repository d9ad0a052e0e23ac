"""Everything that the service needs of a cloud, made from one set of options."""

from __future__ import annotations

from collections.abc import Callable

from stoker.clouds.cloud_access import CloudAccess
from stoker.clouds.containers import ContainerFiles
from stoker.clouds.credentials import Endpoints, Password
from stoker.clouds.lookups import Lookups
from stoker.clouds.sessions import Sessions
from stoker.clouds.temporary_urls import TemporaryUrls
from stoker.clouds.workers import Workers
from stoker.kernel.clock import Clock


class CloudClients:
    """Connections, lookups and threads."""

    def __init__(
        self, endpoints: Endpoints, clock: Clock, called: Callable[[str, int, float, str], None]
    ) -> None:
        """``called`` is called after each call with service, status or 0, seconds, and kind."""
        self.workers = Workers(clock)
        self._called = called
        self._clock = clock
        self._sessions = Sessions(endpoints, clock, self._observe)
        self._lookups = Lookups(clock)
        self.access = CloudAccess(self._sessions, self._lookups)

    @property
    def load(self) -> Callable[[], None]:
        """Imports the SDK ahead of the first call; blocks for about half a second."""
        return self._sessions.load

    def _observe(
        self, service: str, status: int, seconds: float, pause: float | None, kind: str
    ) -> None:
        self._called(service, status, seconds, kind)
        if status:  # no answer says nothing of how busy a service is
            self.workers.observe(service, status, seconds, pause, kind)

    def container_files(self, most_bytes: int) -> ContainerFiles:
        """Return a reader for files of containers, of ``most_bytes`` at most."""
        return ContainerFiles(self._sessions, self.workers, most_bytes)

    def temporary_urls(self, user: Password) -> TemporaryUrls:
        """Knows the temporary URLs of the object store in the catalog of a user."""
        return TemporaryUrls(self._sessions, self.workers, user, self._clock)

    def close(self) -> None:
        """Close connections and threads."""
        self.workers.close()
        self._lookups.close()
        self._sessions.close()
