"""The load balancing service: what is asked becomes pending, then real, then active."""

import importlib
import logging
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cached_property
from typing import TYPE_CHECKING, Any, Protocol, cast

from localcloud.core.cloud import Cloud
from localcloud.core.store import Document
from localcloud.core.work import Work
from localcloud.fabric.interface import FabricError
from localcloud.load_balancer.kinds import LOAD_BALANCER, Kind
from localcloud.load_balancer.state import ACTIVE, ERROR, State
from localcloud.load_balancer.tree import erase
from localcloud.load_balancer.vips import Vips
from localcloud.web.http import ApiError

if TYPE_CHECKING:
    from localcloud.load_balancer.certificates import Certificates

_LOG = logging.getLogger(__name__)


class Traffic(Protocol):
    """What carries the traffic of load balancers."""

    async def apply(self, balancer_id: str) -> None:
        """Bring a load balancer to what its documents say; raises FabricError, ApiError."""

    async def remove(self, balancer_id: str) -> None:
        """Take a load balancer away; unknown ids are fine."""

    def operating(self, kind: Kind, document: Document) -> str:
        """Return the operating status of a load balancer or a part."""

    def statistics(self, listener_id: str) -> dict[str, int]:
        """Return what a listener has counted."""

    async def close(self) -> None:
        """End all traffic."""


class LoadBalancing:
    """The load balancing service; the one instance is ``cloud.one(LoadBalancing)``."""

    def __init__(self, cloud: Cloud) -> None:
        self._cloud = cloud
        self.state = State(cloud)
        self.vips = Vips(cloud, self.state)
        self.work = Work()

    @cached_property
    def traffic(self) -> Traffic:
        """What carries traffic; loaded when there is the first load balancer."""
        loaded: Any = importlib.import_module("localcloud.load_balancer.traffic.balancers")
        made = loaded.Balancers(self._cloud, self.state, self.vips, self.certificates)
        return cast("Traffic", made)

    @cached_property
    def certificates(self) -> "Certificates":
        """The certificates of listeners; loaded with traffic."""
        loaded: Any = importlib.import_module("localcloud.load_balancer.certificates")
        return cast("Certificates", loaded.Certificates(self._cloud))

    async def start(self) -> None:
        """Bring all load balancers up again, and carry out what the last process left."""
        for balancer in self.state.of(LOAD_BALANCER).values():
            self.settle(balancer["id"])

    async def stop(self) -> None:
        """End all traffic; the next start goes on."""
        await self.work.stop()
        if "traffic" in self.__dict__:
            await self.traffic.close()

    @contextmanager
    def changing(self, balancer_id: str) -> Iterator[Document]:
        """Change parts of a load balancer in one transaction, and have it carried out.

        Raises the API's 409 while another change is carried out.
        """
        with self._cloud.store.transaction():
            balancer = self.state.require_settled(balancer_id)
            self.state.mark(LOAD_BALANCER, balancer, "PENDING_UPDATE")
            yield balancer
        self.settle(balancer_id)

    def settle(self, balancer_id: str) -> None:
        """Carry out, in the background, what is pending of a load balancer."""
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
        with self._cloud.store.transaction():
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
        with self._cloud.store.transaction():
            for kind, part in self.state.parts(balancer["id"]):
                erase(self.state, kind, part)
            self.state.of(LOAD_BALANCER).delete(balancer["id"])
