"""Archives and copies of disks, and disks from archives or from other disks.

A disk has only the differences from the image below it, and so has its archive.

Archives come from users, and a server may change its disk while that is read: so all access is by
descriptors, beneath the directory of the disk (:mod:`localcloud.fabric.isolation.tree`).
"""

import os
import shutil
import stat
import tarfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

from localcloud.fabric.interface import FabricError
from localcloud.fabric.isolation import tree
from localcloud.fabric.isolation.tree import LAYER_PARTS
from localcloud.fabric.storage.extraction import XATTR, Facts, extract

_IDS = 1 << 16  # ids that servers have. Archives of earlier clouds have the host's ids for them.
_TYPES = {
    stat.S_IFDIR: tarfile.DIRTYPE,
    stat.S_IFREG: tarfile.REGTYPE,
    stat.S_IFLNK: tarfile.SYMTYPE,
    stat.S_IFIFO: tarfile.FIFOTYPE,
    stat.S_IFCHR: tarfile.CHRTYPE,
    stat.S_IFBLK: tarfile.BLKTYPE,
}
# Where files are that have several names, by their device and number.
_Links = dict[tuple[int, int], tuple[str, ...]]


def pack(disk: Path, archive: Path) -> None:
    """Write the content of a disk into a compressed tar archive.

    A missing disk holds nothing. Raises OSError and :class:`FabricError`.
    """
    with tarfile.open(archive, "w:gz", compresslevel=1, format=tarfile.PAX_FORMAT) as tar:
        packing = _Packing(tar)
        for name, opened in _layers(disk):
            packing.add_directory((name,), opened)


def _layers(disk: Path) -> Iterator[tuple[str, int]]:
    """Yield the layers of a checked disk as open directories; none if the disk is missing."""
    if not disk.exists():
        return
    with tree.opened_disk(disk) as top:
        for name in LAYER_PARTS:
            opened = tree.open_entry(top, name, stat.S_IFDIR)
            if opened is not None:
                try:
                    yield name, opened
                finally:
                    os.close(opened)


class _Packing:
    def __init__(self, tar: tarfile.TarFile) -> None:
        self._tar = tar
        self._links: _Links = {}

    def add_directory(self, parts: tuple[str, ...], directory: int) -> None:
        """Add an open directory with all in it."""
        _check_depth(parts)
        self._tar.addfile(_member(parts, os.fstat(directory), tree.attributes(directory)))
        for name, found in tree.entries(directory):
            place, kind = (*parts, name), stat.S_IFMT(found.st_mode)
            if kind in (stat.S_IFDIR, stat.S_IFREG):
                with _entry(directory, name, kind) as opened:
                    if opened is None:
                        continue
                    if kind == stat.S_IFDIR:
                        self.add_directory(place, opened)
                    else:
                        self._add_file(place, opened)
            elif kind != stat.S_IFSOCK:
                member = _member(place, found, {})
                if kind == stat.S_IFLNK:
                    member.linkname = _target(directory, name)
                self._tar.addfile(member)

    def _add_file(self, parts: tuple[str, ...], opened: int) -> None:
        found = os.fstat(opened)
        member = _member(parts, found, tree.attributes(opened))
        known = self._links.setdefault((found.st_dev, found.st_ino), parts)
        if known != parts and found.st_nlink > 1:
            member.type, member.size, member.linkname = tarfile.LNKTYPE, 0, "/".join(known)
            self._tar.addfile(member)
            return
        with open(opened, "rb", closefd=False) as file:
            self._tar.addfile(member, _Padded(file))


class _Padded:
    """A file that a server may shorten while it is read; the missing bytes are read as zeros."""

    def __init__(self, file: BinaryIO) -> None:
        self._file = file

    def read(self, size: int = -1) -> bytes:
        return self._file.read(size).ljust(size, b"\0")


def _member(
    parts: tuple[str, ...], found: os.stat_result, attributes: dict[str, bytes]
) -> tarfile.TarInfo:
    member = tarfile.TarInfo("/".join(parts))
    member.mode, member.mtime = stat.S_IMODE(found.st_mode), found.st_mtime
    member.uid, member.gid = found.st_uid, found.st_gid
    member.type = _TYPES[stat.S_IFMT(found.st_mode)]
    if member.isreg():
        member.size = found.st_size
    if member.isdev():
        member.devmajor, member.devminor = os.major(found.st_rdev), os.minor(found.st_rdev)
    member.pax_headers = {
        XATTR + name: value.decode(errors="surrogateescape") for name, value in attributes.items()
    }
    return member


def unpack(archive: Path, disk: Path) -> None:
    """Make a disk from an archive; raises :class:`FabricError` where it is none of a disk."""
    _clear(disk)
    try:
        with tree.opened_disk(disk) as top:
            extract(archive, top, _facts_of, whiteouts=True)
            _check_names(top)
            tree.check_disk(top)
    except FabricError as error:
        raise FabricError(f"the data of {archive.name} is not that of a disk: {error}") from error


def _check_names(disk: int) -> None:
    strange = set(os.listdir(disk)) - set(LAYER_PARTS)
    if strange:
        raise FabricError(f'a disk has "root" and "upper", and no "{min(strange)}"')


def _facts_of(member: tarfile.TarInfo) -> Facts:
    owner = (member.uid % _IDS, member.gid % _IDS) if os.geteuid() == 0 else None
    attributes = {
        name.removeprefix(XATTR): value.encode(errors="surrogateescape")
        for name, value in member.pax_headers.items()
        if name.startswith(f"{XATTR}user.")
    }
    return Facts(stat.S_IMODE(member.mode), owner, member.mtime, attributes)


def copy(source: Path, target: Path) -> None:
    """Make a copy of a disk with owners, times, links and holes.

    Raises OSError and :class:`FabricError`.
    """
    _clear(target)
    with tree.opened_disk(target) as top:
        copying = _Copying(top)
        for name, opened in _layers(source):
            copying.copy_directory(opened, (name,))


def _clear(disk: Path) -> None:
    if disk.exists():
        shutil.rmtree(disk)
    disk.mkdir(parents=True)


class _Copying:
    """Copies directories to the same places beneath ``top``. Nothing else writes to ``top``."""

    def __init__(self, top: int) -> None:
        self._top = top
        self._links: _Links = {}

    def copy_directory(self, source: int, parts: tuple[str, ...]) -> None:
        """Copy an open directory with all in it."""
        _check_depth(parts)
        target = tree.open_directory(self._top, parts, make=True)
        try:
            for name, found in tree.entries(source):
                kind = stat.S_IFMT(found.st_mode)
                if kind in (stat.S_IFDIR, stat.S_IFREG):
                    with _entry(source, name, kind) as opened:
                        if opened is not None and kind == stat.S_IFDIR:
                            self.copy_directory(opened, (*parts, name))
                        elif opened is not None:
                            self._copy_file(opened, target, (*parts, name))
                elif kind != stat.S_IFSOCK:
                    _copy_node(source, target, name, found)
            _copy_facts(source, target)
        finally:
            os.close(target)

    def _copy_file(self, source: int, directory: int, parts: tuple[str, ...]) -> None:
        found = os.fstat(source)
        known = self._links.setdefault((found.st_dev, found.st_ino), parts)
        if known != parts and found.st_nlink > 1:
            held = tree.open_directory(self._top, known[:-1])
            try:
                os.link(
                    known[-1], parts[-1],
                    src_dir_fd=held, dst_dir_fd=directory, follow_symlinks=False,
                )  # fmt: skip
            finally:
                os.close(held)
            return
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL
        target = tree.open_beneath(directory, parts[-1], flags, 0o600)
        try:
            _copy_data(source, target, found.st_size)
            _copy_facts(source, target)
        finally:
            os.close(target)


def _copy_node(source: int, target: int, name: str, found: os.stat_result) -> None:
    """Copy a symbolic link, a pipe, or the mark of a deleted file."""
    if stat.S_ISLNK(found.st_mode):
        os.symlink(_target(source, name), name, dir_fd=target)
    else:
        os.mknod(name, found.st_mode, found.st_rdev, dir_fd=target)
    if os.geteuid() == 0:
        os.chown(name, found.st_uid, found.st_gid, dir_fd=target, follow_symlinks=False)
    times = (found.st_atime_ns, found.st_mtime_ns)
    os.utime(name, ns=times, dir_fd=target, follow_symlinks=False)


def _target(directory: int, name: str) -> str:
    """Return the target of a symbolic link; ``nowhere`` if the link was replaced meanwhile."""
    try:
        return os.readlink(name, dir_fd=directory)
    except OSError:
        return "nowhere"


@contextmanager
def _entry(directory: int, name: str, kind: int) -> Iterator[int | None]:
    """Open an entry of a directory; None if it is of this kind no longer."""
    opened = tree.open_entry(directory, name, kind)
    try:
        yield opened
    finally:
        if opened is not None:
            os.close(opened)


def _check_depth(parts: tuple[str, ...]) -> None:
    if len(parts) > tree.DEEPEST:
        raise FabricError(f"the disk has more than {tree.DEEPEST} directories in each other")


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


def _copy_facts(source: int, target: int) -> None:
    found = os.fstat(source)
    owner = (found.st_uid, found.st_gid) if os.geteuid() == 0 else None
    Facts(stat.S_IMODE(found.st_mode), owner, found.st_mtime, tree.attributes(source)).give(target)
    os.utime(target, ns=(found.st_atime_ns, found.st_mtime_ns))
