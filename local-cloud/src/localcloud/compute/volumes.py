"""The seam to block storage: compute works without it and refuses clearly what needs it."""

from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from localcloud.cloud import Cloud
from localcloud.http import BadRequest, RequestContext
from localcloud.store import Document


@dataclass(frozen=True)
class BootVolume:
    """The volume that a server boots from."""

    disk: Path
    """The directory that is the server's disk; it outlives the server."""
    image_id: str
    """The image that the volume was made of."""


class BlockStorage(Protocol):
    """What compute asks of a block storage service in the same process.

    An attachment is a document with ``id``, ``volumeId``, ``device``, ``delete_on_termination``
    and ``tag``.
    """

    def attachments(self, server_id: str) -> list[Document]:
        """Return the attachments of a server, in the order in which they were made."""

    async def attach(self, context: RequestContext, server: Document, wanted: Document) -> Document:
        """Attach the volume ``wanted["volumeId"]``; raises ApiError where that is not possible."""

    async def detach(self, server: Document, volume_id: str) -> None:
        """Detach a volume; raises NotFound for one that is not attached."""

    def check(self, context: RequestContext, devices: list[Document]) -> None:
        """Raise ApiError where a new server cannot have these block devices.

        Devices are those of ``block_device_mapping_v2``, without a local disk of an image.
        """

    async def prepare(self, context: RequestContext, server: Document) -> None:
        """Make and attach what ``server["block_devices"]`` asks for, before the first boot.

        It may be called again after a crash.
        """

    def boot_volume(self, server_id: str) -> BootVolume:
        """Return the volume that a server without an image of its own boots from."""

    async def release(self, server_id: str) -> None:
        """Detach all volumes of a deleted server, and delete those that end with it."""


class Volumes:
    """Where the block storage service of a cloud announces itself: ``cloud.one(Volumes)``."""

    def __init__(self, cloud: Cloud) -> None:
        self.storage: BlockStorage | None = None

    def of(self, server_id: str) -> list[Document]:
        """Return the attachments of a server."""
        return [] if self.storage is None else self.storage.attachments(server_id)

    def required(self) -> BlockStorage:
        """Return the service; raises :class:`BadRequest` where the cloud has none."""
        if self.storage is None:
            raise BadRequest(
                "This cloud has no block storage service; volumes cannot be used with servers."
            )
        return self.storage
