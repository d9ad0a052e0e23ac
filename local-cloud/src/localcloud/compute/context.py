"""The parts of the compute service that requests and jobs work with."""

from msgspec import Struct

from localcloud.block_storage.service import BlockStorageService
from localcloud.compute.images import Images
from localcloud.compute.interfaces import Interfaces
from localcloud.compute.machine import Machine
from localcloud.compute.model.state import State


class ServiceContext(Struct, frozen=True):
    """One of each part."""

    state: State
    machine: Machine
    plugs: Interfaces
    images: Images
    volumes: BlockStorageService
