"""Images as compute uses them: checks of a server's image, and its root file system."""

import asyncio
from pathlib import Path

from localcloud.block_storage.servers import BootVolume
from localcloud.core.cloud import Cloud
from localcloud.core.store import Document
from localcloud.image.model.images import SIZE_LIMIT, read_chunks
from localcloud.image.model.images import Images as AllImages
from localcloud.image.model.presentation import RESERVED
from localcloud.image.model.rootfs_cache import BASE, RootfsCache, UnusableImageError
from localcloud.web.http import ApiError, BadRequestError, NotFoundError, RequestContext


class Images:
    """The images of the cloud, as servers need them."""

    def __init__(self, cloud: Cloud) -> None:
        self.all = cloud.one(AllImages)
        self._roots = cloud.one(RootfsCache)
        self._fabric = cloud.fabric
        self._servers = cloud.store.collection("compute.server")
        self.all.holders.append(self._is_held)

    def check_bootable(self, context: RequestContext, image_id: str, flavor: Document) -> None:
        """Raise :class:`BadRequestError` where the caller cannot boot this flavor from the
        image.
        """
        try:
            image = self.all.visible(context, image_id)
        except NotFoundError:
            raise BadRequestError(f"Can not find requested image {image_id}") from None
        self._roots.check_base(context, image)
        if image["status"] != "active":
            raise BadRequestError(f"Image {image_id} is not active.")
        if image["min_ram"] > flavor["ram"]:
            raise BadRequestError("Flavor's memory is too small for requested image.")
        if flavor["disk"] and image["min_disk"] > flavor["disk"]:
            raise BadRequestError(
                f"Flavor's disk is too small for requested image: {flavor['disk']} GiB, "
                f"and the image needs {image['min_disk']} GiB."
            )

    async def root(self, image_id: str) -> Path | None:
        """Return the root file system; None for the built-in image.

        Raises :class:`BadRequestError` where no server can be made of the image.
        """
        try:
            return await self._roots.root(self._roots.base(image_id))
        except UnusableImageError as error:
            raise BadRequestError(str(error)) from error

    def _is_held(self, image_id: str) -> bool:
        """Return whether servers or images of servers need the image, which may be deleted."""
        servers = self._servers.values()
        if any(image_id in {s["image_id"], s["rescue_image_id"]} for s in servers):
            return True
        images = [*self.all.records.values(), *self.all.deleted.values()]
        return any(i["id"] != image_id and i["properties"].get(BASE) == image_id for i in images)

    async def seed(self, image_id: str, disk: Path) -> None:
        """Make a disk with the content of a snapshot; other images leave nothing on the disk.

        Raises :class:`BadRequestError` where the image has no data that fits.
        """
        if self._roots.base(image_id) == image_id or await asyncio.to_thread(disk.exists):
            return
        archive = self.all.path(image_id)
        if archive is None:
            raise BadRequestError(f"The image {image_id} has no data.")
        fresh = disk.with_suffix(".fresh")
        await self._fabric.storage.unpack(archive, fresh)
        fresh.rename(disk)

    def announce(
        self,
        context: RequestContext,
        server: Document,
        source: BootVolume,
        name: str,
        metadata: dict[str, str],
    ) -> str:
        """Make the record of a snapshot of a server's disk to come; returns its id.

        ``metadata`` becomes properties; raises :class:`BadRequestError` for names that the cloud
        keeps to itself.
        """
        reserved = [key for key in metadata if key.startswith(RESERVED)]
        if reserved:
            raise BadRequestError(f"The metadata '{reserved[0]}' is reserved.")
        properties = {
            "image_type": "snapshot",
            **metadata,
            "instance_uuid": server["id"],
            "base_image_ref": server["image_id"],
            BASE: self._roots.base(source.image_id),
        }
        image = self.all.record(
            context.project_id,
            name,
            visibility="private",
            container_format="bare",
            disk_format="raw",
            min_disk=server["flavor"]["disk"],
            properties=properties,
        )
        self.all.add(image)
        return str(image["id"])

    def rotate(self, server: Document, marks: dict[str, str], most: int) -> None:
        """Delete the oldest backups of a server that have these marks, all but ``most``."""
        properties = {**marks, "instance_uuid": server["id"]}
        known = [
            i
            for i in self.all.records.find(owner=server["project_id"])
            if properties.items() <= i["properties"].items()
        ]
        known.sort(key=lambda i: str(i["created_at"]))
        for image in known[: max(len(known) - most, 0)]:
            self.all.delete(image)

    async def store(self, image_id: str, disk: Path) -> None:
        """Fill the record of a snapshot with the content of a disk; raises ApiError, OSError."""
        archive = disk.with_suffix(".image.tar.gz")
        try:
            await self._fabric.storage.pack(disk, archive)
            await self.all.fill(self.all.get(image_id), read_chunks(archive), SIZE_LIMIT)
        finally:
            archive.unlink(missing_ok=True)

    def give_up(self, image_id: str) -> None:
        """Delete the record of a snapshot that failed."""
        try:
            self.all.delete(self.all.get(image_id))
        except ApiError:
            return
