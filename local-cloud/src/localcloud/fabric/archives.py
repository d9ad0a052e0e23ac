"""Disks as files and as copies: archives of what a disk holds, and disks of archives or of disks.

A disk holds only what differs from the image below it, so this is all that an archive holds.
"""

import contextlib
import os
import shutil
import stat
import tarfile
from collections.abc import Iterator
from pathlib import Path

from localcloud.fabric.interface import FabricError

_XATTR = "SCHILY.xattr."
_PARTS = ("root", "upper")
"""What a disk holds: its root directory where there are no overlays, else what lies above."""
_WHITEOUT = (0, 0)
"""Device numbers of the node that marks a deleted file."""
_IDS = 1 << 16
"""Ids that servers have. Archives of earlier clouds have the host's ids for them."""


def pack(disk: Path, archive: Path) -> None:
    """Write the content of a disk into a compressed tar archive; raises OSError."""
    with tarfile.open(archive, "w:gz", compresslevel=1, format=tarfile.PAX_FORMAT) as tar:
        for name in _PARTS:
            if (disk / name).exists():
                tar.add(disk / name, name, filter=lambda m: _with_attributes(disk, m))


def _with_attributes(disk: Path, member: tarfile.TarInfo) -> tarfile.TarInfo | None:
    path = disk / member.name
    if stat.S_ISSOCK(path.lstat().st_mode):
        return None
    attributes = {
        _XATTR + name: value.decode(errors="surrogateescape")
        for name, value in _attributes(path).items()
    }
    member.pax_headers = {**member.pax_headers, **attributes}
    return member


def _attributes(path: Path) -> dict[str, bytes]:
    with contextlib.suppress(OSError):
        names = os.listxattr(path, follow_symlinks=False)
        own = (name for name in names if name.startswith("user."))
        return {name: os.getxattr(path, name, follow_symlinks=False) for name in own}
    return {}


def unpack(archive: Path, disk: Path) -> None:
    """Make a disk from an archive; raises :class:`FabricError` where it is none of a disk."""
    _clear(disk)
    try:
        with tarfile.open(archive) as tar:
            tar.extractall(disk, members=_safe(tar, disk), numeric_owner=True, filter="tar")
        with tarfile.open(archive) as tar:
            for member in tar:
                _set_facts(disk / member.name, member)
    except (tarfile.TarError, EOFError, ValueError) as error:
        raise FabricError(f"the data of {archive.name} is not that of a disk: {error}") from error


def _safe(tar: tarfile.TarFile, disk: Path) -> Iterator[tarfile.TarInfo]:
    inside = disk.resolve()
    for member in tar:
        # A hard link to a file of the host would be that file, open to the server.
        if member.islnk() and not (disk / member.linkname).resolve().is_relative_to(inside):
            raise ValueError(f"the link {member.name} leads out of it")
        whiteout = member.ischr() and (member.devmajor, member.devminor) == _WHITEOUT
        if whiteout or not member.isdev():
            yield member.replace(uid=member.uid % _IDS, gid=member.gid % _IDS, deep=False)


def _set_facts(path: Path, member: tarfile.TarInfo) -> None:
    """Set what an extraction of what strangers have packed leaves out."""
    if member.isreg() or member.isdir():
        path.chmod(stat.S_IMODE(member.mode))
    for name, value in member.pax_headers.items():
        if name.startswith(f"{_XATTR}user."):
            encoded = value.encode(errors="surrogateescape")
            with contextlib.suppress(FileNotFoundError):  # a device, which was left out
                os.setxattr(path, name[len(_XATTR) :], encoded, follow_symlinks=False)


def copy(source: Path, target: Path) -> None:
    """Make a copy of a disk with owners, times, links and holes; raises OSError."""
    _clear(target)
    links: dict[tuple[int, int], Path] = {}
    for name in _PARTS:
        if (source / name).exists():
            _copy_directory(source / name, target / name, links)


def _clear(disk: Path) -> None:
    if disk.exists():
        shutil.rmtree(disk)
    disk.mkdir(parents=True)


def _copy_directory(source: Path, target: Path, links: dict[tuple[int, int], Path]) -> None:
    target.mkdir()
    for entry in os.scandir(source):
        place, found = target / entry.name, entry.stat(follow_symlinks=False)
        known = (found.st_dev, found.st_ino)
        if stat.S_ISDIR(found.st_mode):
            _copy_directory(Path(entry.path), place, links)
        elif known in links:
            place.hardlink_to(links[known])
        elif not stat.S_ISSOCK(found.st_mode):
            _copy_entry(Path(entry.path), place, found)
            if found.st_nlink > 1:
                links[known] = place
    _copy_facts(source, target, source.lstat())


def _copy_entry(source: Path, target: Path, found: os.stat_result) -> None:
    if stat.S_ISLNK(found.st_mode):
        target.symlink_to(source.readlink())
    elif stat.S_ISREG(found.st_mode):
        with source.open("rb") as read, target.open("xb") as written:
            _copy_data(read.fileno(), written.fileno(), found.st_size)
    else:  # a pipe, or the mark of a deleted file
        os.mknod(target, found.st_mode, found.st_rdev)
    _copy_facts(source, target, found)


def _copy_data(read: int, written: int, size: int) -> None:
    os.ftruncate(written, size)
    position = 0
    while position < size:
        try:
            start = os.lseek(read, position, os.SEEK_DATA)
            end = os.lseek(read, start, os.SEEK_HOLE)
        except OSError:  # nothing but a hole is left
            return
        while start < end:
            done = os.copy_file_range(read, written, end - start, start, start)
            if not done:  # the file has become shorter meanwhile
                return
            start += done
        position = end


def _copy_facts(source: Path, target: Path, found: os.stat_result) -> None:
    if os.geteuid() == 0:
        os.lchown(target, found.st_uid, found.st_gid)
    if not stat.S_ISLNK(found.st_mode):
        target.chmod(stat.S_IMODE(found.st_mode))
    for name, value in _attributes(source).items():
        os.setxattr(target, name, value, follow_symlinks=False)
    os.utime(target, ns=(found.st_atime_ns, found.st_mtime_ns), follow_symlinks=False)
