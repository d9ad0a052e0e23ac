"""The parts of shared file systems that requests and work use."""

from msgspec import Struct

from localcloud.core.work import Work
from localcloud.shared_file_system.content import Content
from localcloud.shared_file_system.exports import Exports
from localcloud.shared_file_system.model.state import State
from localcloud.shared_file_system.servers import ShareServers


class ServiceContext(Struct, frozen=True):
    """One of each part."""

    state: State
    content: Content
    servers: ShareServers
    exports: Exports
    work: Work
