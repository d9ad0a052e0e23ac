"""The compute service: its parts put together, and what it does when the cloud starts."""

from localcloud.block_storage.service import BlockStorage
from localcloud.compute import flavors, hosts
from localcloud.compute.images import Images
from localcloud.compute.jobs import confirmed, jobs
from localcloud.compute.live_metadata import LiveMetadata
from localcloud.compute.machine import Machine
from localcloud.compute.plugs import Interfaces, leaving
from localcloud.compute.servers import SHUTDOWN
from localcloud.compute.state import State
from localcloud.compute.tools import ServiceContext
from localcloud.core.cloud import Cloud
from localcloud.core.store import Document
from localcloud.network.service import NetworkService

_LOST = frozenset({"paused", "rescued"})
"""States of servers that live in memory alone."""


class ComputeService:
    """The compute service; the one instance is ``cloud.one(ComputeService)``."""

    def __init__(self, cloud: Cloud) -> None:
        state = State(cloud)
        self.tools = ServiceContext(
            state=state,
            machine=Machine(state),
            plugs=Interfaces(state, cloud.one(NetworkService)),
            images=Images(cloud),
            volumes=cloud.one(BlockStorage),
        )
        self.tools.machine.teach(jobs(self.tools))
        self._live_metadata = LiveMetadata(self.tools)
        cloud.exit_listeners.append(self.tools.machine.exited)

    async def start(self) -> None:
        """Take up what the last process left: all work that is undone, and all servers that ran."""
        state = self.tools.state
        flavors.bootstrap(state)
        hosts.bootstrap(state)
        for server in state.servers.values():
            if server["snapshot"] is not None:
                self.tools.images.give_up(server["snapshot"])
            resumed = _after_restart(server)
            if resumed is not server:
                state.servers.put(resumed)
            for port_id in leaving(resumed):
                self.tools.machine.aside(self.tools.plugs.detach(server["id"], port_id))
            if resumed["task_state"] is not None:
                self.tools.machine.work_on(server["id"])

    async def stop(self) -> None:
        """Leave all work as it is; the next start takes it up."""
        await self._live_metadata.stop()
        await self.tools.machine.stop()


def _after_restart(server: Document) -> Document:
    """Return the server as it is now that no process of the last run is left.

    Servers that ran shall run again; those that were paused or in rescue are shut off. One that is
    suspended stays so, and boots when it is resumed.
    """
    if (server["resize"] or {}).get("confirmed"):
        return _after_restart({**server, **confirmed(server)})
    if server["snapshot"] is not None:
        return _after_restart({**server, "task_state": None, "snapshot": None})
    if server["task_state"] == "pausing":
        return {**server, "task_state": "powering-off"}
    if server["task_state"] is not None:
        return server
    if server["vm_state"] == "active" or _resized_and_ran(server):
        return {**server, "task_state": "restarting", "action_id": None}
    if server["vm_state"] in _LOST:
        return {**server, "vm_state": "stopped", "power_state": SHUTDOWN}
    return server


def _resized_and_ran(server: Document) -> bool:
    return bool(server["vm_state"] == "resized" and server["resize"]["vm_state"] == "active")
