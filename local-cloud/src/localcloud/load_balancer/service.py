"""The load balancing API, version 2, as the application mounts it.

A request marks a load balancer as PENDING in the store and is answered. The work behind it brings
up its traffic, and then marks it and its parts as ACTIVE or ERROR. While a change is in progress,
further changes to the same load balancer are refused with the status 409, as Octavia does.
"""

import importlib
import logging
import re
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cached_property
from typing import TYPE_CHECKING, Any, cast

from localcloud.core.cloud import Cloud, LazyService
from localcloud.core.store import Document
from localcloud.core.work import Work
from localcloud.fabric.interface import FabricError
from localcloud.load_balancer.errors import octavia_error
from localcloud.load_balancer.model.kinds import LOAD_BALANCER
from localcloud.load_balancer.model.state import ACTIVE, ERROR, State
from localcloud.load_balancer.model.tree import erase
from localcloud.load_balancer.vips import Vips
from localcloud.web.http import ApiError, without_trailing_slash

if TYPE_CHECKING:
    from localcloud.load_balancer.certificates import Certificates
    from localcloud.load_balancer.traffic.balancers import Balancers

_LOG = logging.getLogger(__name__)
_NEWEST = 27  # minor version of the API
_VERSION = re.compile(r"/v2\.0(?=/|$)")


class LoadBalancingService(LazyService):
    """Octavia; the one instance is ``cloud.one(LoadBalancingService)``."""

    type = "load-balancer"
    name = "octavia"
    prefix = endpoint = "/load-balancer"
    api_module = "localcloud.load_balancer.api.endpoints"
    render = staticmethod(octavia_error)

    def __init__(self, cloud: Cloud) -> None:
        super().__init__(cloud)
        self.state = State(cloud)
        self.vips = Vips(cloud, self.state)
        self.work = Work()

    def _version(self, minor: int) -> Document:
        return {
            "id": f"v2.{minor}",
            "status": "CURRENT" if minor == _NEWEST else "SUPPORTED",
            "updated": "2023-05-04T00:00:00Z",
            "links": [{"href": f"{self.url}/v2", "rel": "self"}],
        }

    @cached_property
    def version(self) -> Document:
        return self._version(_NEWEST)

    @cached_property
    def documents(self) -> Document:
        versions = [self._version(minor) for minor in range(_NEWEST + 1)]
        return {"/": {"versions": versions}, "/v2": {"versions": versions[:1]}}

    def normalize(self, path: str) -> str:
        return _VERSION.sub("/v2", without_trailing_slash(path))

    @cached_property
    def traffic(self) -> "Balancers":
        """The traffic of all load balancers; loaded with the first one."""
        module: Any = importlib.import_module("localcloud.load_balancer.traffic.balancers")
        balancers = module.Balancers(self.cloud, self.state, self.vips, self.certificates)
        return cast("Balancers", balancers)

    @cached_property
    def certificates(self) -> "Certificates":
        """The certificates of listeners; loaded with the traffic."""
        module: Any = importlib.import_module("localcloud.load_balancer.certificates")
        return cast("Certificates", module.Certificates(self.cloud))

    async def start(self) -> None:
        for balancer in self.state.of(LOAD_BALANCER).values():
            self.settle(balancer["id"])

    async def stop(self) -> None:
        await self.work.stop()
        if "traffic" in self.__dict__:
            await self.traffic.close()

    @contextmanager
    def changing(self, balancer_id: str) -> Iterator[Document]:
        """Change parts of a load balancer in one transaction, then bring up the result.

        Raises the API's 409 while another change is in progress.
        """
        with self.cloud.store.transaction():
            balancer = self.state.require_settled(balancer_id)
            self.state.mark(LOAD_BALANCER, balancer, "PENDING_UPDATE")
            yield balancer
        self.settle(balancer_id)

    def settle(self, balancer_id: str) -> None:
        """Carry out the pending changes of a load balancer in the background."""
        self.work.begin(balancer_id, lambda: self._settle(balancer_id))

    async def _settle(self, balancer_id: str) -> None:
        balancer = self.state.of(LOAD_BALANCER).get(balancer_id)
        if balancer is None:
            return
        if balancer["provisioning_status"] == "PENDING_DELETE":
            await self._delete(balancer)
            return
        outcome = ACTIVE
        try:
            await self.traffic.apply(balancer_id)
        except (FabricError, ApiError, OSError) as error:
            _LOG.warning("Load balancer %s could not be brought up: %s", balancer_id, error)
            outcome = ERROR
        with self.cloud.store.transaction():
            for kind, part in self.state.parts(balancer_id):
                if part["provisioning_status"] == "PENDING_DELETE" and outcome == ACTIVE:
                    erase(self.state, kind, part)
            for kind, part in self.state.parts(balancer_id):
                if part["provisioning_status"].startswith("PENDING"):
                    self.state.mark(kind, part, outcome)
            settled = self.state.of(LOAD_BALANCER).get(balancer_id)
            if settled is not None and settled["provisioning_status"] != "PENDING_DELETE":
                self.state.mark(LOAD_BALANCER, settled, outcome)

    async def _delete(self, balancer: Document) -> None:
        await self.traffic.remove(balancer["id"])
        await self.vips.release(balancer)
        with self.cloud.store.transaction():
            for kind, part in self.state.parts(balancer["id"]):
                erase(self.state, kind, part)
            self.state.of(LOAD_BALANCER).delete(balancer["id"])
