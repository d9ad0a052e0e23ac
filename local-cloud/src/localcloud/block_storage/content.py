"""The content of volumes and snapshots: directories, laid out as the disks of servers.

New content is created beside its place and renamed at the end. Work that was interrupted starts
again from nothing and never leaves half a volume.
"""

import asyncio
import shutil
from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from localcloud.block_storage.model.state import State
from localcloud.core.store import Document
from localcloud.fabric.interface import Volume
from localcloud.fabric.storage.stillness import still
from localcloud.image.model.images import HOST_KIND, SIZE_LIMIT, Images, read_chunks
from localcloud.image.model.rootfs_cache import RootfsCache
from localcloud.web.http import BadRequestError

# The property of an image that was made of a volume without a root file system.
DATA_KIND = {"stoker:kind": "volume"}
_PARALLEL = 4  # disks that are copied at the same time
_CONTENT = "upper/root"


class Content:
    """Makes, copies and removes the content of volumes."""

    def __init__(self, state: State) -> None:
        self._state = state
        self._fabric = state.cloud.fabric
        self._images = state.cloud.one(Images)
        self._roots = state.cloud.one(RootfsCache)
        self._servers = state.cloud.store.collection("compute.server")
        self._slots = asyncio.Semaphore(_PARALLEL)
        self._images.holders.append(self._is_held)

    async def blank(self, object_id: str) -> None:
        """Make an empty volume."""
        self._state.directory(object_id).mkdir(parents=True, exist_ok=True)

    async def copy(self, source_id: str, target_id: str) -> None:
        """Make a volume or snapshot with the content of another."""
        target = self._state.directory(target_id)
        fresh = target.with_suffix(".fresh")
        async with self._slots:
            await self._fabric.storage.copy(self._state.directory(source_id), fresh)
        await self._replace(target, fresh)

    async def pack(self, object_id: str, archive: Path) -> None:
        """Write the content of a volume or snapshot into an archive."""
        async with self._slots:
            await self._fabric.storage.pack(self._state.directory(object_id), archive)

    async def unpack(self, archive: Path, object_id: str) -> None:
        """Make the content of a volume of an archive; raises FabricError where it is none."""
        target = self._state.directory(object_id)
        fresh = target.with_suffix(".fresh")
        async with self._slots:
            await self._fabric.storage.unpack(archive, fresh)
        await self._replace(target, fresh)

    async def _replace(self, target: Path, fresh: Path) -> None:
        await self._fabric.storage.remove(target)
        await asyncio.to_thread(fresh.rename, target)

    async def remove(self, object_id: str) -> None:
        """Remove the content of a volume or snapshot, and incomplete content of it."""
        directory = self._state.directory(object_id)
        for path in (directory, directory.with_suffix(".fresh")):
            await self._fabric.storage.remove(path)
        for path in self.archives(object_id):
            path.unlink()

    def archive(self, object_id: str) -> Path:
        """Return where an archive can be put for a while."""
        return self._state.directory(object_id).with_suffix(".tar.gz")

    def archives(self, object_id: str) -> list[Path]:
        """Return the archive that was left where one was put."""
        found = self.archive(object_id)
        return [found] if found.exists() else []

    async def take_image(self, volume_id: str, image_id: str) -> dict[str, Any]:
        """Create the content of a volume from an image; returns the resulting fields of the volume.

        Raises :class:`BadRequestError` for an image without data, FabricError if it is unreadable.
        """
        image = self._images.known(image_id)
        properties, base = image["properties"], self._roots.base(image_id)
        archive = self._images.path(image_id)
        if HOST_KIND.items() <= properties.items() and image["owner"] is None:
            await self.blank(volume_id)
            return {"base": image_id}
        if archive is None:
            raise BadRequestError(f"The image {image_id} has no data.")
        if base != image_id or DATA_KIND.items() <= properties.items():
            await self.unpack(archive, volume_id)
            return {"base": None if base == image_id else base}
        if await asyncio.to_thread(_is_archive, archive):
            await self.blank(volume_id)
            return {"base": image_id}
        await asyncio.to_thread(_keep, archive, self._state.directory(volume_id), image)
        return {"base": None}

    async def give_image(self, volume: Document, image_id: str) -> None:
        """Fill the record of an image with the content of a volume; raises ApiError, OSError."""
        archive = self.archive(volume["id"])
        try:
            await self.pack(volume["id"], archive)
            await self._images.fill(self._images.get(image_id), read_chunks(archive), SIZE_LIMIT)
        finally:
            archive.unlink(missing_ok=True)

    async def shown(self, volume: Document, attachment: Document) -> Volume:
        """Return a volume as the fabric shows it to a server."""
        base = volume["base"]
        return Volume(
            id=volume["id"],
            device=attachment["device"].rsplit("/", 1)[-1],
            disk=self._state.directory(volume["id"]),
            image=None if base is None else await self._roots.root(base),
            bootable=base is not None,
            read_only=volume["readonly"] or attachment["mode"] == "ro",
        )

    @asynccontextmanager
    async def still(self, volume_ids: Iterable[str]) -> AsyncIterator[None]:
        """Freeze the servers that have a volume, so that a copy shows one moment."""
        servers = {
            attachment["server_id"]
            for volume_id in volume_ids
            for attachment in self._state.attached(volume_id)
            if attachment["server_id"] in self._fabric.running()
        }
        frozen = [
            server_id
            for server_id in sorted(servers)
            if (self._servers.get(server_id) or {}).get("vm_state") == "active"
        ]
        async with still(self._fabric, frozen):
            yield

    def _is_held(self, image_id: str) -> bool:
        """Return True if volumes use the image, even if it is deleted."""
        state = self._state
        kinds = (state.volumes, state.snapshots, state.backups)
        return any(image_id == found["base"] for kind in kinds for found in kind.values())


def _is_archive(path: Path) -> bool:
    with path.open("rb") as file:
        head = file.read(512)
    packed = (b"\x1f\x8b", b"BZh", b"\xfd7zXZ")
    return head.startswith(packed) or head[257:262] == b"ustar"


def _keep(data: Path, directory: Path, image: Document) -> None:
    """Put the data of an image that no server can boot into a volume, as a file."""
    content = directory / _CONTENT
    content.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(data, content / f"image.{image['disk_format'] or 'raw'}")
