"""Root file systems of servers, unpacked once from images that are tar archives."""

import asyncio
import os
import shutil
import tarfile
from pathlib import Path

from localcloud.core.cloud import Cloud
from localcloud.core.store import Document
from localcloud.fabric.interface import FabricError
from localcloud.fabric.storage.extraction import Facts, extract
from localcloud.image.model.images import HOST_KIND, Images
from localcloud.web.http import BadRequestError, NotFoundError, RequestContext

BASE = "stoker:base"  # the property of an image of a disk that names the image below it


class UnusableImageError(Exception):
    """No server can be made from the image; the text says why."""


class RootfsCache:
    """The unpacked root file systems; the one instance is ``cloud.one(Roots)``."""

    def __init__(self, cloud: Cloud) -> None:
        self._images = cloud.one(Images)
        self._locks: dict[str, asyncio.Lock] = {}

    def base(self, image_id: str) -> str:
        """Return the ID of the image with the root file system on which an image is based.

        Raises :class:`localcloud.web.http.NotFoundError`.
        """
        return str(self._images.known(image_id)["properties"].get(BASE, image_id))

    def check_base(self, who: RequestContext, image: Document) -> None:
        """Refuse a snapshot of an image that is gone, or that the caller may not use.

        A server or volume made from the snapshot shows the files of that image. Raises
        :class:`BadRequestError`.
        """
        base = image["properties"].get(BASE)
        if base is None:
            return
        try:
            usable = self._images.sees(who, self._images.known(base))
        except NotFoundError:
            usable = False
        if not usable:
            raise BadRequestError(f"The image {base}, the base of image {image['id']}, is gone.")

    async def root(self, image_id: str) -> Path | None:
        """Return the directory with the root file system; None for the built-in image.

        The directory is shared by all servers of the image and must not be written to. Raises
        :class:`UnusableImageError` where the image has no data or is not a tar archive, and
        :class:`localcloud.web.http.NotFoundError`.
        """
        image = self._images.known(image_id)
        if HOST_KIND.items() <= image["properties"].items() and image["owner"] is None:
            return None
        root = self._images.unpacked(image_id)
        async with self._locks.setdefault(image_id, asyncio.Lock()):
            if not root.exists():
                archive = self._images.path(image_id)
                if archive is None:
                    raise UnusableImageError(f"The image {image_id} has no data.")
                await asyncio.to_thread(_unpack, archive, root)
        return root


def _unpack(archive: Path, root: Path) -> None:
    fresh = root.with_suffix(".unpacking")
    shutil.rmtree(fresh, ignore_errors=True)
    fresh.mkdir()
    try:
        opened = os.open(fresh, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
        try:
            extract(archive, opened, _facts_of)
        finally:
            os.close(opened)
        fresh.rename(root)
    except (FabricError, OSError) as error:
        raise UnusableImageError(
            f"The data of image {archive.name} cannot be unpacked as a root file system: {error}. "
            "Upload a tar archive, plain or compressed by gzip, bzip2 or xz."
        ) from error
    finally:
        shutil.rmtree(fresh, ignore_errors=True)


def _facts_of(member: tarfile.TarInfo) -> Facts:
    """Give all files to the unpacking user, readable and writable; drop set-user-id bits."""
    mode = member.mode & 0o1777 | (0o700 if member.isdir() else 0o600)
    return Facts(mode, None, member.mtime, {})
