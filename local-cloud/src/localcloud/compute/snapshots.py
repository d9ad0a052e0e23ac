"""Images of servers: the differences of a disk from the image that it was made of.

A server's disk holds only what differs from its image, so this is all that a snapshot holds. Its
image property names the image below it, and a new server starts with a copy of the differences.
"""

import contextlib
import os
import stat
import tarfile
from collections.abc import Iterator
from pathlib import Path

from localcloud.http import BadRequest

BASE = "stoker:base"
"""The property of a snapshot that names the image below it."""
_XATTR = "SCHILY.xattr."
_SCRATCH = ("work",)
"""Directories of a disk that the kernel makes anew."""
_WHITEOUT = (0, 0)
"""Device numbers of the node that marks a deleted file."""


def pack(disk: Path, archive: Path) -> None:
    """Write the content of a disk into a compressed tar archive; raises OSError."""
    with tarfile.open(archive, "w:gz", compresslevel=1, format=tarfile.PAX_FORMAT) as tar:
        for entry in sorted(disk.iterdir()) if disk.is_dir() else ():
            if entry.name not in _SCRATCH:
                tar.add(entry, entry.name, filter=lambda m: _with_attributes(disk, m))


def _with_attributes(disk: Path, member: tarfile.TarInfo) -> tarfile.TarInfo | None:
    path = disk / member.name
    if stat.S_ISSOCK(path.lstat().st_mode):
        return None
    attributes = {}
    with contextlib.suppress(OSError):
        for name in os.listxattr(path, follow_symlinks=False):
            if name.startswith("user."):
                value = os.getxattr(path, name, follow_symlinks=False)
                attributes[_XATTR + name] = value.decode(errors="surrogateescape")
    member.pax_headers = {**member.pax_headers, **attributes}
    return member


def unpack(archive: Path, disk: Path) -> None:
    """Make a disk from an archive; raises :class:`BadRequest` where it is none of a snapshot."""
    try:
        disk.mkdir(parents=True)
        with tarfile.open(archive) as tar:
            tar.extractall(disk, members=_safe(tar, disk), numeric_owner=True, filter="tar")
        with tarfile.open(archive) as tar:
            for member in tar:
                _set_attributes(disk / member.name, member)
    except (tarfile.TarError, EOFError, ValueError) as error:
        raise BadRequest(f"The data of image {archive.name} is not a snapshot: {error}.") from error


def _safe(tar: tarfile.TarFile, disk: Path) -> Iterator[tarfile.TarInfo]:
    inside = disk.resolve()
    for member in tar:
        # A hard link to a file of the host would be that file, open to the server.
        if member.islnk() and not (disk / member.linkname).resolve().is_relative_to(inside):
            raise ValueError(f"the link {member.name} leads out of it")
        whiteout = member.ischr() and (member.devmajor, member.devminor) == _WHITEOUT
        if whiteout or not member.isdev():
            yield member


def _set_attributes(path: Path, member: tarfile.TarInfo) -> None:
    for name, value in member.pax_headers.items():
        if name.startswith(f"{_XATTR}user.overlay."):
            encoded = value.encode(errors="surrogateescape")
            os.setxattr(path, name[len(_XATTR) :], encoded, follow_symlinks=False)
