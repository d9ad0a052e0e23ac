"""The parts of the block storage service that requests and work use."""

from msgspec import Struct

from localcloud.block_storage.archives import Archives
from localcloud.block_storage.content import Content
from localcloud.block_storage.model.state import State
from localcloud.core.work import Work


class ServiceContext(Struct, frozen=True):
    """One of each part."""

    state: State
    content: Content
    archives: Archives
    work: Work
