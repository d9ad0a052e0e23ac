"""The data of objects: one file for each version of each object, never changed once written.

An object's record names its file; a file that no record names is left over and goes at the next
start. All reading, writing and hashing is done on threads, in bites.
"""

import asyncio
import hashlib
import os
import shutil
from collections.abc import AsyncIterator, Collection, Iterable, Sequence
from pathlib import Path
from typing import BinaryIO
from uuid import uuid4

from msgspec import Struct

from localcloud.object_store.errors import ObjectStoreError

_BITE = 1 << 18
_SPARE_BYTES = 256 << 20


class Received(Struct, frozen=True):
    """Data that has arrived."""

    name: str
    size: int
    md5: str


class Part(Struct, frozen=True):
    """A stretch of a file."""

    name: str
    start: int
    size: int


Piece = Part | bytes


class DataFiles:
    """The directory with the data."""

    def __init__(self, directory: Path, largest: int) -> None:
        self._directory = directory
        self.largest = largest  # bytes of one file, at most

    def start(self, named: Collection[str]) -> None:
        """Make the directory; remove all files but those that are named."""
        self._directory.mkdir(parents=True, exist_ok=True)
        for found in self._directory.iterdir():
            if found.name not in named:
                found.unlink()

    async def receive(self, chunks: AsyncIterator[bytes]) -> Received:
        """Write data as it comes; raises :class:`ObjectStoreError` and then leaves nothing
        behind.
        """
        draft = _Draft(self._directory, self.largest)
        waiting, size = [], 0
        try:
            async for chunk in chunks:
                waiting.append(chunk)
                size += len(chunk)
                if size >= _BITE:
                    await asyncio.to_thread(draft.write, waiting)
                    waiting, size = [], 0
            return await asyncio.to_thread(draft.end, waiting)
        except BaseException:
            draft.discard()
            raise

    async def remove(self, names: Iterable[str]) -> None:
        """Remove files whose records are gone."""
        await asyncio.to_thread(self.remove_now, list(names))

    def remove_now(self, names: Sequence[str]) -> None:
        """Remove files whose records are gone, on this thread."""
        for name in names:
            (self._directory / name).unlink(missing_ok=True)

    async def read(self, name: str) -> bytes:
        """Return all of a file that is known to be small; raises :class:`ObjectStoreError`."""
        try:
            return await asyncio.to_thread((self._directory / name).read_bytes)
        except FileNotFoundError:
            # It was deleted after its record was read.
            raise ObjectStoreError(404) from None

    def stream(self, pieces: Sequence[Piece]) -> AsyncIterator[bytes]:
        """Yield the pieces one after another.

        The file of the first is opened immediately, so that it is sent even if it is deleted
        meanwhile.
        """
        first = next((piece for piece in pieces if isinstance(piece, Part)), None)
        return self._stream(pieces, None if first is None else self._open(first))

    async def _stream(
        self, pieces: Sequence[Piece], opened: BinaryIO | None
    ) -> AsyncIterator[bytes]:
        name = next((piece.name for piece in pieces if isinstance(piece, Part)), "")
        try:
            for piece in pieces:
                if isinstance(piece, bytes):
                    yield piece
                    continue
                if opened is None or piece.name != name:
                    if opened is not None:
                        opened.close()
                    opened, name = self._open(piece), piece.name
                position, end = piece.start, piece.start + piece.size
                while position < end:
                    bite = await asyncio.to_thread(
                        os.pread, opened.fileno(), min(_BITE, end - position), position
                    )
                    if not bite:
                        raise EOFError(f"{piece.name} is shorter than its record says")
                    position += len(bite)
                    yield bite
        finally:
            if opened is not None:
                opened.close()

    def _open(self, part: Part) -> BinaryIO:
        return (self._directory / part.name).open("rb", buffering=0)


class _Draft:
    """A file that is being written; used by one thread at a time."""

    def __init__(self, directory: Path, largest: int) -> None:
        self._path = directory / uuid4().hex
        self._largest = largest
        self._file: BinaryIO | None = None
        self._md5 = hashlib.md5(usedforsecurity=False)
        self._size = 0

    def write(self, chunks: Sequence[bytes]) -> None:
        if self._file is None:
            self._file = self._path.open("wb", buffering=0)
        data = b"".join(chunks)
        self._size += len(data)
        if self._size > self._largest:
            raise ObjectStoreError(413, "Your request is too large.")
        if shutil.disk_usage(self._path.parent).free < len(data) + _SPARE_BYTES:
            raise ObjectStoreError(507)
        self._md5.update(data)
        # An unbuffered file may accept less than it is given.
        view = memoryview(data)
        while view:
            view = view[self._file.write(view) :]

    def end(self, chunks: Sequence[bytes]) -> Received:
        self.write(chunks)
        assert self._file is not None
        self._file.close()
        return Received(self._path.name, self._size, self._md5.hexdigest())

    def discard(self) -> None:
        if self._file is not None:
            self._file.close()
            self._path.unlink(missing_ok=True)


def length(piece: Piece) -> int:
    """Return how many bytes a piece has."""
    return len(piece) if isinstance(piece, bytes) else piece.size


def cut(pieces: Sequence[Piece], start: int, end: int) -> list[Piece]:
    """Return the parts of the pieces from ``start`` up to ``end``."""
    chosen: list[Piece] = []
    position = 0
    for piece in pieces:
        low, high = max(start - position, 0), min(end - position, length(piece))
        if low < high:
            chosen.append(
                piece[low:high]
                if isinstance(piece, bytes)
                else Part(piece.name, piece.start + low, high - low)
            )
        position += length(piece)
    return chosen
