"""Root file systems of servers, unpacked once from images that are tar archives."""

import asyncio
import os
import shutil
import tarfile
from collections.abc import Iterator
from pathlib import Path

from localcloud.cloud import Cloud
from localcloud.image.images import HOST_KIND, SIZE_LIMIT, Images

BASE = "stoker:base"
"""The property of an image of a disk that names the image below it."""
_MEMBER_LIMIT = 2_000_000


class UnusableImage(Exception):
    """No server can be made from the image; the text says why."""


class Roots:
    """The unpacked root file systems; the one instance is ``cloud.one(Roots)``."""

    def __init__(self, cloud: Cloud) -> None:
        self._images = cloud.one(Images)
        self._locks: dict[str, asyncio.Lock] = {}

    def base(self, image_id: str) -> str:
        """Return the id of the image with a root file system that an image stands on.

        Raises :class:`localcloud.http.NotFound`.
        """
        return str(self._images.known(image_id)["properties"].get(BASE, image_id))

    async def root(self, image_id: str) -> Path | None:
        """Return the directory with the root file system; None for the built-in image.

        The directory is shared by all servers of the image and must not be written to. Raises
        :class:`UnusableImage` where the image has no data or is not a tar archive, and
        :class:`localcloud.http.NotFound`.
        """
        image = self._images.known(image_id)
        if HOST_KIND.items() <= image["properties"].items() and image["owner"] is None:
            return None
        root = self._images.unpacked(image_id)
        async with self._locks.setdefault(image_id, asyncio.Lock()):
            if not root.exists():
                archive = self._images.path(image_id)
                if archive is None:
                    raise UnusableImage(f"The image {image_id} has no data.")
                await asyncio.to_thread(_unpack, archive, root)
        return root


def _unpack(archive: Path, root: Path) -> None:
    fresh = root.with_suffix(".unpacking")
    shutil.rmtree(fresh, ignore_errors=True)
    fresh.mkdir()
    try:
        with tarfile.open(archive) as tar:
            tar.extractall(fresh, members=_members(tar, fresh), filter="tar")
        fresh.rename(root)
    except (tarfile.TarError, EOFError, OSError, ValueError) as error:
        raise UnusableImage(
            f"The data of image {archive.name} cannot be unpacked as a root file system: {error}. "
            "Upload a tar archive, plain or compressed by gzip, bzip2 or xz."
        ) from error
    finally:
        shutil.rmtree(fresh, ignore_errors=True)


def _members(tar: tarfile.TarFile, root: Path) -> Iterator[tarfile.TarInfo]:
    """Yield what can be unpacked safely; device nodes and pipes are left out."""
    total = 0
    for count, member in enumerate(tar):
        total += member.size
        if count > _MEMBER_LIMIT or total > SIZE_LIMIT:
            raise ValueError("it has too many files, or too much in them")
        if member.islnk() and not _is_inside(root, root / member.linkname.lstrip("/")):
            raise ValueError(f"the link {member.name} leads out of it")
        if member.isfile() or member.isdir() or member.issym() or member.islnk():
            yield member.replace(
                uid=os.getuid(),
                gid=os.getgid(),
                uname="",
                gname="",
                mode=member.mode | (0o700 if member.isdir() else 0o600),
                deep=False,
            )


def _is_inside(root: Path, path: Path) -> bool:
    return path.resolve().is_relative_to(root.resolve())
