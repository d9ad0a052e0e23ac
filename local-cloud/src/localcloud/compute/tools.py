"""The parts of the compute service that requests and jobs work with."""

from dataclasses import dataclass

from localcloud.compute.images import Images
from localcloud.compute.machine import Machine
from localcloud.compute.plugs import Plugs
from localcloud.compute.state import State
from localcloud.compute.volumes import Volumes
from localcloud.http import NotFound
from localcloud.store import Document


@dataclass(frozen=True)
class Tools:
    """One of each part."""

    state: State
    machine: Machine
    plugs: Plugs
    images: Images
    volumes: Volumes

    def server(self, server_id: str) -> Document:
        """Return the server as it is now; raises :class:`NotFound` where it is gone."""
        server = self.state.servers.get(server_id)
        if server is None:
            raise NotFound(f"Instance {server_id} could not be found.")
        return server
