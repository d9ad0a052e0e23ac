"""The content of shares and snapshots: directories, laid out as those of volumes.

New content is created beside its place and renamed at the end. Work that was interrupted starts
again from nothing and never leaves half a share.
"""

import asyncio
import os
from contextlib import suppress
from pathlib import Path

from localcloud.shared_file_system.model.state import State

_CONTENT = "upper/root"
_BLOCK = 512


class Content:
    """Makes, copies and removes the content of shares."""

    def __init__(self, state: State) -> None:
        self._state = state
        self._storage = state.cloud.fabric.storage

    async def blank(self, share_id: str) -> None:
        """Make an empty share."""
        self._state.directory(share_id).mkdir(parents=True, exist_ok=True)

    async def copy(self, source_id: str, target_id: str) -> None:
        """Make a share or snapshot with the content of another."""
        source, target = self._state.directory(source_id), self._state.directory(target_id)
        fresh = target.with_suffix(".fresh")
        await self._storage.copy(source, fresh)
        await self._storage.remove(target)
        await asyncio.to_thread(fresh.rename, target)

    async def remove(self, object_id: str) -> None:
        """Remove the content of a share or a snapshot, and incomplete content of it."""
        directory = self._state.directory(object_id)
        for path in (directory, directory.with_suffix(".fresh")):
            await self._storage.remove(path)

    async def size(self, share_id: str) -> int:
        """Return how many bytes the files of a share take on the disk."""
        return await asyncio.to_thread(_size, self._state.directory(share_id) / _CONTENT)


def _size(directory: Path) -> int:
    total = 0
    if not directory.exists():  # nothing has been written to it yet
        return total
    for _, names, files, opened in os.fwalk(directory):  # follows no link that a server puts there
        for name in (*names, *files):
            with suppress(OSError):  # it has just gone
                found = os.stat(name, dir_fd=opened, follow_symlinks=False)
                total += found.st_blocks * _BLOCK
    return total
