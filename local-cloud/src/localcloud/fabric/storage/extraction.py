"""Unpacks tar archives. No member can leave the target directory.

Of :mod:`tarfile`, only the reader is used. Its filters depend on the version of the interpreter,
and they resolve paths in another way than the kernel does. Each member is made relative to the open
directory that holds it (:mod:`localcloud.fabric.isolation.tree`), under a name of one part, and its
owner, mode, attributes and times are set by its descriptor.

Archives come from users, so the memory of the reader is bounded, too.
"""

import bz2
import errno
import gzip
import io
import lzma
import os
import stat
import tarfile
import zlib
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import IO, cast

from msgspec import Struct

from localcloud.fabric.interface import FabricError
from localcloud.fabric.isolation import tree

_MOST_MEMBERS = 2_000_000
_MOST_BYTES = 64 << 30
_LONGEST_HEADER = 1 << 20  # bytes of what describes one member: its names, attributes and holes
_MOST_GLOBALS = 100  # attributes that an archive may give to all members that follow
_CHUNK = 1 << 18
_ZEROS = bytes(_CHUNK)
XATTR = "SCHILY.xattr."
_WHITEOUT = (0, 0)  # device numbers of the node that marks a deleted file
# What the reader of archives raises, and the decompressors, for what is no archive.
_UNREADABLE = (
    tarfile.TarError, EOFError, OSError, ValueError, ArithmeticError, LookupError, RecursionError,
    lzma.LZMAError, zlib.error,
)  # fmt: skip


class Facts(Struct, frozen=True):
    """Owner, mode and times of a member after it is unpacked."""

    mode: int
    # Ids of its user and group; None means those of the unpacking process.
    owner: tuple[int, int] | None
    mtime: float
    attributes: dict[str, bytes]

    def give(self, descriptor: int) -> None:
        """Set them on an open file or directory."""
        if self.owner is not None:
            os.fchown(descriptor, *self.owner)
        os.fchmod(descriptor, self.mode)  # after the owner, whose change clears set-user-id
        for name, value in self.attributes.items():
            os.setxattr(descriptor, name, value)
        os.utime(descriptor, (self.mtime, self.mtime))


FactsOf = Callable[[tarfile.TarInfo], Facts]


class _Source(io.RawIOBase):
    """A stream of an archive that limits the length of each header."""

    def __init__(self, source: IO[bytes]) -> None:
        self._source = source
        # Bytes of the header that may still be read; None for the content of a file.
        self.header_bytes: int | None = _LONGEST_HEADER

    def tell(self) -> int:
        return self._source.tell()

    def seek(self, offset: int, whence: int = os.SEEK_SET) -> int:
        return self._source.seek(offset, whence)

    def read(self, size: int | None = -1) -> bytes:
        most = _LONGEST_HEADER if self.header_bytes is None else self.header_bytes
        if size is None or not 0 <= size <= most:
            raise ValueError("a header in it is too long")
        if self.header_bytes is not None:
            self.header_bytes -= size
        return self._source.read(size)


def _open(archive: Path) -> IO[bytes]:
    with archive.open("rb") as file:
        head = file.read(6)
    for mark, opened in ((b"\x1f\x8b", gzip.open), (b"BZh", bz2.open), (b"\xfd7zXZ\0", lzma.open)):
        if head.startswith(mark):
            return cast("IO[bytes]", opened(archive, "rb"))
    return archive.open("rb")


def _members(tar: tarfile.TarFile, source: _Source) -> Iterator[tarfile.TarInfo]:
    """Yield the members of an archive, without keeping them in memory."""
    total = 0
    for count in range(_MOST_MEMBERS + 1):
        source.header_bytes = _LONGEST_HEADER
        member = tar.next()
        source.header_bytes = None
        if member is None:
            return
        tar.members.clear()  # type: ignore[attr-defined]  # typeshed does not know it
        if len(tar.pax_headers) > _MOST_GLOBALS:
            raise ValueError("it has too many attributes")
        total += member.size
        if member.size < 0 or total > _MOST_BYTES or count == _MOST_MEMBERS:
            raise ValueError("it has too many files, or too much in them")
        yield member


def extract(archive: Path, target: int, facts: FactsOf, *, whiteouts: bool = False) -> None:
    """Unpack an archive into an open, empty directory. No other process may write to it.

    ``facts`` returns owner, mode and times of a member. Marks of deleted files are made with
    ``whiteouts``; other devices, pipes and sockets are left out. Raises :class:`FabricError` where
    the archive cannot be read, or leads out of the directory.
    """
    try:
        with _open(archive) as file, tarfile.TarFile(fileobj=(source := _Source(file))) as tar:
            extraction = _Extraction(tar, target, facts, whiteouts)
            try:
                for member in _members(tar, source):
                    _add(extraction, member)
                extraction.finish()
            finally:
                extraction.close()
    except _UNREADABLE as error:
        raise FabricError(str(error)) from error


def _add(extraction: "_Extraction", member: tarfile.TarInfo) -> None:
    try:
        extraction.add(member)
    except OSError as error:
        if error.errno not in (errno.ELOOP, errno.ENOTDIR):
            raise
        raise ValueError(
            f"{member.name[:200]} in it leads through a symbolic link or a file"
        ) from error


class _Extraction:
    def __init__(self, tar: tarfile.TarFile, target: int, facts: FactsOf, whiteouts: bool) -> None:
        self._tar = tar
        self._target = target
        self._facts = facts
        self._whiteouts = whiteouts
        # Directories from the target down to that of the last member, with their names.
        self._open: list[tuple[str, int]] = []
        # Their facts come last: a mode may forbid to put files there.
        self._directories: dict[tuple[str, ...], Facts] = {}

    def add(self, member: tarfile.TarInfo) -> None:
        """Create the file, directory or link of a member."""
        parts = tree.parts_of(member.name)
        if member.isdir():
            self._directory(parts)
            self._directories[parts] = self._facts(member)
        elif not parts:
            raise ValueError("a file in it has no name")
        elif member.isreg() or member.issym() or member.islnk() or self._is_whiteout(member):
            parent = self._parent(parts[:-1])
            _remove(parent, parts[-1])
            self._make(member, parent, parts[-1])

    def _is_whiteout(self, member: tarfile.TarInfo) -> bool:
        numbers = (member.devmajor, member.devminor)
        return self._whiteouts and member.ischr() and numbers == _WHITEOUT

    def _make(self, member: tarfile.TarInfo, parent: int, name: str) -> None:
        if member.isreg():
            self._write(member, parent, name)
        elif member.islnk():
            *way, source = tree.parts_of(member.linkname) or ("",)
            held = tree.open_directory(self._target, way)
            try:
                os.link(source, name, src_dir_fd=held, dst_dir_fd=parent, follow_symlinks=False)
            finally:
                os.close(held)
        else:
            if member.issym():
                os.symlink(member.linkname, name, dir_fd=parent)
            else:
                os.mknod(
                    name, stat.S_IFCHR | member.mode & 0o777, os.makedev(*_WHITEOUT), dir_fd=parent
                )
            owner = self._facts(member).owner
            if owner is not None:
                os.chown(name, *owner, dir_fd=parent, follow_symlinks=False)

    def _write(self, member: tarfile.TarInfo, parent: int, name: str) -> None:
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL
        content = self._tar.extractfile(member)
        assert content is not None
        with os.fdopen(tree.open_beneath(parent, name, flags, 0o600), "wb", 0) as file:
            while chunk := content.read(_CHUNK):
                if chunk == _ZEROS[: len(chunk)]:
                    file.seek(len(chunk), os.SEEK_CUR)  # a hole
                else:
                    _write_all(file, chunk)
            file.truncate(member.size)
            self._facts(member).give(file.fileno())

    def _directory(self, parts: tuple[str, ...]) -> None:
        if parts:
            parent = self._parent(parts[:-1])
            if not _is_directory(parent, parts[-1]):
                _remove(parent, parts[-1])
        self._parent(parts)

    def _parent(self, parts: tuple[str, ...]) -> int:
        """Return the descriptor of a directory, which is made where it is missing."""
        same = 0
        for (name, _), part in zip(self._open, parts, strict=False):
            if name != part:
                break
            same += 1
        self._shorten(same)
        for part in parts[same:]:
            above = self._open[-1][1] if self._open else self._target
            self._open.append((part, tree.open_directory(above, (part,), make=True)))
        return self._open[-1][1] if self._open else self._target

    def _shorten(self, length: int) -> None:
        while len(self._open) > length:
            os.close(self._open.pop()[1])

    def finish(self) -> None:
        """Give the directories their facts, the deepest first."""
        for parts in sorted(self._directories, key=len, reverse=True):
            directory = tree.open_directory(self._target, parts)
            try:
                self._directories[parts].give(directory)
            finally:
                os.close(directory)

    def close(self) -> None:
        """Close all open directories."""
        self._shorten(0)


def _is_directory(directory: int, name: str) -> bool:
    try:
        return stat.S_ISDIR(os.stat(name, dir_fd=directory, follow_symlinks=False).st_mode)
    except FileNotFoundError:
        return False


def _remove(directory: int, name: str) -> None:
    """Make room for a member of the same name; a directory is not replaced. Raises OSError."""
    with suppress(FileNotFoundError):
        os.unlink(name, dir_fd=directory)


def _write_all(file: IO[bytes], chunk: bytes) -> None:
    rest = memoryview(chunk)
    while rest:
        rest = rest[file.write(rest) :]
