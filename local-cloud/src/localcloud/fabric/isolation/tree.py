"""Access to directory trees with content from users and servers, only by descriptors.

Names come from archives, images and servers, and a server may change a tree while it is read. So
the kernel resolves each name beneath an open directory (openat2 with RESOLVE_BENEATH and
RESOLVE_NO_SYMLINKS): no link, ``..`` or absolute name leads out, whatever the interpreter's version
and however long the path is. Reads and changes use the opened descriptor; no path is used twice.
:mod:`localcloud.fabric.storage.extraction` and :mod:`localcloud.fabric.storage.archives` build on
this.
"""

import errno
import os
import stat
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

from localcloud.fabric.interface import FabricError
from localcloud.fabric.isolation import kernel
from localcloud.fabric.isolation.kernel import Resolve

# Most directories in each other: each holds a descriptor, and a frame of the interpreter.
DEEPEST = 400
# What a disk holds: its root directory where there are no overlays, else what lies above.
LAYER_PARTS = ("root", "upper")
# Directories in a disk, volume or share that the fabric reads, writes or mounts.
_OWN_PARTS = (*LAYER_PARTS, "work", "blank", "seen", "seen-only")
_BENEATH = Resolve.BENEATH | Resolve.NO_SYMLINKS | Resolve.NO_MAGICLINKS
_DIRECTORY = os.O_RDONLY | os.O_DIRECTORY


def named(descriptor: int) -> str:
    """Return a path to the file of a descriptor, for calls that take only paths."""
    return f"/proc/self/fd/{descriptor}"


def parts_of(name: str) -> tuple[str, ...]:
    """Return the parts of a relative path; raises ValueError where one leads upwards."""
    parts = tuple(part for part in name.split("/") if part not in ("", "."))
    if ".." in parts or "\0" in name:
        raise ValueError(f"the name {name[:200]} leads out of it")
    if len(parts) > DEEPEST:
        raise ValueError(f"the name {name[:200]}... is deeper than {DEEPEST} directories")
    return parts


def open_beneath(directory: int, name: str, flags: int, mode: int = 0) -> int:
    """Open one entry of a directory, which no link leads out of. Raises OSError."""
    return kernel.open_at(directory, name, flags, _BENEATH, mode)


def open_directory(directory: int, parts: Sequence[str], *, make: bool = False) -> int:
    """Open a directory beneath another; with ``make``, create missing ones. Raises OSError."""
    found = os.dup(directory)
    try:
        for part in parts:
            if make:
                with suppress(FileExistsError):
                    os.mkdir(part, 0o755, dir_fd=found)
            below = open_beneath(found, part, _DIRECTORY)
            os.close(found)
            found = below
    except BaseException:
        os.close(found)
        raise
    return found


def set_mode(descriptor: int, mode: int) -> None:
    """Set the mode of the file of a descriptor, which may be one of ``O_PATH``."""
    # fchmod(2) refuses descriptors of O_PATH; the magic link leads to the very file.
    Path(named(descriptor)).chmod(stat.S_IMODE(mode))


@contextmanager
def opened_disk(disk: Path) -> Iterator[int]:
    """Open the directory of a disk, volume or share, which has been checked.

    Raises OSError, and :class:`FabricError` where a part that the fabric uses is no directory.
    """
    found = os.open(disk, _DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
    try:
        check_disk(found)
        yield found
    finally:
        os.close(found)


def check_disk(disk: int) -> None:
    """Refuse a disk unless ``root``, ``upper`` and the parts of ``upper`` are directories.

    Otherwise the target of a link would be mounted, copied or changed. Raises :class:`FabricError`.
    """
    for name in _OWN_PARTS:
        _check_directory(disk, name, name)
    for name in ("upper", "work"):
        with suppress(FileNotFoundError):
            below = open_beneath(disk, name, _DIRECTORY)
            try:
                for part, _ in entries(below):
                    _check_directory(below, part, f"{name}/{part}")
            finally:
                os.close(below)


def _check_directory(directory: int, name: str, shown: str) -> None:
    try:
        found = os.stat(name, dir_fd=directory, follow_symlinks=False)
    except FileNotFoundError:
        return
    if not stat.S_ISDIR(found.st_mode):
        raise FabricError(f'this is not the content of a disk: "{shown}" in it is no directory')


def open_entry(directory: int, name: str, kind: int) -> int | None:
    """Open a file or directory of this kind for reading; None if it is one no longer."""
    flags = _DIRECTORY if kind == stat.S_IFDIR else os.O_RDONLY | os.O_NONBLOCK
    try:
        found = open_beneath(directory, name, flags)
    except OSError as error:
        if error.errno in (errno.ENOENT, errno.ELOOP, errno.ENOTDIR, errno.ENXIO):
            return None
        raise
    if stat.S_IFMT(os.fstat(found).st_mode) != kind:
        os.close(found)
        return None
    return found


def entries(directory: int) -> Iterator[tuple[str, os.stat_result]]:
    """Yield the names in a directory with their current status; skip names deleted meanwhile."""
    for name in sorted(os.listdir(directory)):
        with suppress(FileNotFoundError):
            yield name, os.stat(name, dir_fd=directory, follow_symlinks=False)


def attributes(descriptor: int) -> dict[str, bytes]:
    """Return the extended attributes of a file that are for its users."""
    with suppress(OSError):
        own = (name for name in os.listxattr(descriptor) if name.startswith("user."))
        return {name: os.getxattr(descriptor, name) for name in own}
    return {}
