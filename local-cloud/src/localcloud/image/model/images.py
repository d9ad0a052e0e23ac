"""The images of the cloud: their records, who sees them, and their data on disk.

Other services get the one instance by ``cloud.one(Images)``.
"""

import asyncio
import hashlib
import shutil
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any
from uuid import uuid4

from localcloud.core.cloud import Cloud
from localcloud.core.store import Document
from localcloud.web.http import (
    ApiError,
    ConflictError,
    ForbiddenError,
    NotFoundError,
    RequestContext,
    TooLargeError,
)

# Name of the built-in image: the file system of the machine itself. It has no data.
HOST_IMAGE = "host"
HOST_KIND = {"stoker:kind": "host"}
SIZE_LIMIT = 64 << 30  # bytes that the data of one image may have
COUNT_LIMIT = 500  # images that one project may own
_CHUNK_BYTES = 1 << 20
_SPARE_BYTES = 256 << 20
_HASH = "sha512"


class StorageFullError(ApiError):
    """The disk has no room for the data."""

    status = 507
    type = "InsufficientStorage"


class Images:
    """Records and data of all images."""

    def __init__(self, cloud: Cloud) -> None:
        self._cloud = cloud
        self._directory = cloud.settings.cloud_dir / "images"
        self.records = cloud.store.collection("image.image", index=("owner", "name"))
        self.deleted = cloud.store.collection("image.deleted")
        # Functions that report whether the root file system of an image is still in use.
        self.holders: list[Callable[[str], bool]] = []
        self.tasks = cloud.store.collection("image.task", index=("image_id", "status"))
        self.members = cloud.store.collection("image.member", index=("image_id", "member_id"))

    def start(self) -> None:
        """Make the built-in image, and undo uploads that the last process did not finish."""
        self._directory.mkdir(parents=True, exist_ok=True)
        for leftover in self._directory.glob("*.part"):
            leftover.unlink()
        for leftover in self._directory.glob("*.unpacking"):
            shutil.rmtree(leftover)
        for image in self.records.values():
            cut_off = image["status"] == "uploading" and not self.staged(image["id"]).exists()
            if image["status"] == "saving" or cut_off:
                self.change(image, {"status": "queued"})
        for image in self.deleted.values():
            self._let_go(image["id"])
        if any(self._is_host(image) for image in self.records.find(name=HOST_IMAGE)):
            return
        # These images are created only once. A user who deletes them does not get them again.
        for name in (*self._cloud.settings.image_names, HOST_IMAGE):
            self.records.put(built_in(self.record(None, name)))

    def record(self, owner: str | None, name: str | None, **fields: Any) -> Document:
        """Return a new image without data as a document, which the caller puts."""
        now = self._cloud.now()
        return {
            "id": str(uuid4()),
            "name": name,
            "owner": owner,
            "status": "queued",
            "visibility": "shared",
            "protected": False,
            "os_hidden": False,
            "min_disk": 0,
            "min_ram": 0,
            "container_format": None,
            "disk_format": None,
            "size": None,
            "virtual_size": None,
            "checksum": None,
            "os_hash_algo": None,
            "os_hash_value": None,
            "tags": [],
            "properties": {},
            "created_at": now,
            "updated_at": now,
            **fields,
        }

    def add(self, image: Document) -> None:
        """Keep a new image; raises :class:`ConflictError` or :class:`ForbiddenError` beyond the
        quota.
        """
        if image["id"] in self.records:
            raise ConflictError(f"There is already an image with the id {image['id']}.")
        if sum(1 for _ in self.records.find(owner=image["owner"])) >= COUNT_LIMIT:
            raise ForbiddenError(f"The project has {COUNT_LIMIT} images, which is its quota.")
        self.records.put(image)

    def change(self, image: Document, changes: dict[str, Any]) -> Document:
        """Return the image as it is after these changes, which are kept."""
        changed = {**image, **changes, "updated_at": self._cloud.now()}
        self.records.put(changed)
        return changed

    def get(self, image_id: str) -> Document:
        """Return the image; raises :class:`NotFoundError`."""
        image = self.records.get(image_id)
        if image is None:
            raise _missing(image_id)
        return image

    def known(self, image_id: str) -> Document:
        """Return the image, also a deleted one that servers use; raises NotFoundError."""
        return self.deleted.get(image_id) or self.get(image_id)

    def visible(self, who: RequestContext, image_id: str) -> Document:
        """Return the image if the caller may see it; raises :class:`NotFoundError` otherwise."""
        image = self.get(image_id)
        if not self.sees(who, image):
            raise _missing(image_id)
        return image

    def own(self, who: RequestContext, image_id: str) -> Document:
        """Return the image if the caller may change it; raises NotFoundError or ForbiddenError."""
        image = self.visible(who, image_id)
        if not (who.is_admin or (image["owner"] and image["owner"] == who.project_id)):
            raise ForbiddenError("You may not change this image: it belongs to another project.")
        return image

    def sees(self, who: RequestContext, image: Document) -> bool:
        """Return whether the caller may use the image."""
        if who.is_admin or image["visibility"] in {"public", "community"}:
            return True
        return image["owner"] == who.project_id or self.membership(image, who) is not None

    def membership(self, image: Document, who: RequestContext) -> Document | None:
        """Return the record that shares the image with the caller's project."""
        if image["visibility"] != "shared":
            return None
        return self.members.get(f"{image['id']}:{who.project_id}")

    def path(self, image_id: str) -> Path | None:
        """Return the file with the data, or None for an image without."""
        path = self._directory / image_id
        return path if path.exists() else None

    async def stage(self, image_id: str, chunks: AsyncIterator[bytes], limit: int) -> int:
        """Put data where they wait for their import; returns how many bytes they are.

        Raises :class:`TooLargeError` beyond ``limit`` bytes, :class:`StorageFullError`, and
        :class:`NotFoundError` as soon as the image is gone.
        """
        part, size = self._directory / f"{image_id}.staged.part", 0
        try:
            with part.open("wb") as file:
                async for chunk in chunks:
                    size += len(chunk)
                    self.get(image_id)
                    _check_room(self._directory, size, len(chunk), limit)
                    file.write(chunk)
            part.rename(self.staged(image_id))
        except BaseException:
            part.unlink(missing_ok=True)
            raise
        return size

    async def fill(
        self,
        image: Document,
        chunks: AsyncIterator[bytes],
        limit: int,
        meanwhile: str = "saving",
    ) -> Document:
        """Store the data of a queued image and return it as ``active``.

        Raises :class:`TooLargeError` beyond ``limit`` bytes and :class:`StorageFullError`; the
        image is ``queued`` again then, as it is when the client goes away half-way.
        """
        image = self.change(image, {"status": meanwhile})
        part = self._directory / f"{image['id']}.part"
        md5, sha, size = hashlib.md5(usedforsecurity=False), hashlib.new(_HASH), 0
        try:
            with part.open("wb") as file:
                async for chunk in chunks:
                    size += len(chunk)
                    _check_room(self._directory, size, len(chunk), limit)
                    file.write(chunk)
                    md5.update(chunk)
                    sha.update(chunk)
            if image["id"] not in self.records:
                raise NotFoundError("The image was deleted while its data arrived.")
            part.rename(self._directory / image["id"])
        except BaseException:
            part.unlink(missing_ok=True)
            if image["id"] in self.records:
                self.change(self.get(image["id"]), {"status": "queued"})
            raise
        hashes = {
            "checksum": md5.hexdigest(),
            "os_hash_algo": _HASH,
            "os_hash_value": sha.hexdigest(),
        }
        current = self.get(image["id"])
        return self.change(current, {**hashes, "status": "active", "size": size})

    def delete(self, image: Document) -> None:
        """Delete the image, its members and its data.

        Data that servers use stays until the first start at which no server needs it.
        """
        with self._cloud.store.transaction():
            self.members.delete_all(image_id=image["id"])
            self.tasks.delete_all(image_id=image["id"])
            self.records.delete(image["id"])
            self.deleted.put(image)
        for path in (self._directory / image["id"], self.staged(image["id"])):
            path.unlink(missing_ok=True)
        self._let_go(image["id"])

    def _let_go(self, image_id: str) -> None:
        if not any(holds(image_id) for holds in self.holders):
            shutil.rmtree(self.unpacked(image_id), ignore_errors=True)
            self.deleted.delete(image_id)

    def staged(self, image_id: str) -> Path:
        """Return where data waits for its import."""
        return self._directory / f"{image_id}.staged"

    def unpacked(self, image_id: str) -> Path:
        """Return where the root file system of the image is unpacked."""
        return self._directory / f"{image_id}.root"

    def usage(self, owner: str | None) -> tuple[int, int]:
        """Return how many images the project owns, and how many bytes they have."""
        owned = list(self.records.find(owner=owner))
        return len(owned), sum(image["size"] or 0 for image in owned)

    def _is_host(self, image: Document) -> bool:
        return bool(image["properties"].get("stoker:kind") == "host" and image["owner"] is None)


def built_in(image: Document) -> Document:
    """Return a new image as a further name of the built-in one, for all projects."""
    formats = {"container_format": "bare", "disk_format": "raw"}
    fields = {"owner": None, "visibility": "public", "status": "active", "size": 0}
    return {**image, **formats, **fields, "properties": {**image["properties"], **HOST_KIND}}


def _check_room(directory: Path, size: int, piece: int, limit: int) -> None:
    """Raise where data that have this size, with the piece that has come, are too long."""
    if size > limit:
        raise TooLargeError(f"The data is longer than {limit} bytes.")
    if shutil.disk_usage(directory).free < piece + _SPARE_BYTES:
        raise StorageFullError("The disk of this machine has no room for the image.")


def _missing(image_id: str) -> NotFoundError:
    return NotFoundError(f"There is no image {image_id}.")


async def read_chunks(path: Path) -> AsyncIterator[bytes]:
    """Yield the content of a file."""
    with path.open("rb") as file:
        while chunk := await asyncio.to_thread(file.read, _CHUNK_BYTES):
            yield chunk
