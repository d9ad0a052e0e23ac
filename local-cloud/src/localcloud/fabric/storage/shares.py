"""Shares in servers: directories that several servers mount, each as its access allows.

The fabric process mounts each share once, so that all servers see one file system, and has three
faces of it: to write, to read, and closed, which is an empty file system in its stead. Servers get
copies of these mounts. They may unmount them, and can undo nothing that a face forbids.
"""

import os
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from msgspec import Struct

from localcloud.fabric.interface import Face, Share
from localcloud.fabric.isolation import identities, kernel, tree
from localcloud.fabric.isolation.kernel import Clone, Mount
from localcloud.fabric.isolation.mount_table import Namespaces, mounts
from localcloud.fabric.isolation.tree import named
from localcloud.fabric.storage.disks import overlay

_CONTENT, _BLANK = ("upper", "root"), "blank"  # in a share's directory, as in that of a volume


class Shown(Struct, frozen=True):
    """A share as a server is to see it: where the fabric process has mounted its faces."""

    place: str
    places: tuple[str, ...]  # of all faces, the one above among them


@dataclass
class _Open:
    places: dict[Face, str] = field(default_factory=dict)
    servers: set[str] = field(default_factory=set)


class Shares:
    """The shares that servers have, mounted in the fabric process below ``directory``."""

    def __init__(self, directory: Path, overlays: bool) -> None:
        self._directory = directory
        self._overlays = overlays
        self._open: dict[str, _Open] = {}

    def show(self, server_id: str, share: Share, face: Face) -> Shown:
        """Mount a face of a share for a server. Raises OSError."""
        opened = self._open.setdefault(share.id, _Open())
        opened.servers.add(server_id)
        for needed in dict.fromkeys((Face.WRITE, face) if face is Face.READ else (face,)):
            if needed not in opened.places:
                place = self._directory / f"{share.id}-{needed}"
                place.mkdir(parents=True, exist_ok=True)
                self._mount(share, needed, str(place), opened)
                opened.places[needed] = str(place)
        return Shown(opened.places[face], tuple(opened.places.values()))

    def has(self, server_id: str, share_id: str) -> bool:
        """Return whether a server has, or has had, a share since its boot."""
        return share_id in self._open and server_id in self._open[share_id].servers

    def release(self, share_id: str) -> None:
        """Release the content of a share, which servers then see closed."""
        opened = self._open.get(share_id)
        if opened is not None:
            for face in {Face.WRITE, Face.READ} & opened.places.keys():
                _drop(opened.places.pop(face))

    def close(self, server_id: str) -> None:
        """Note that a server has no shares any more."""
        for share_id, opened in list(self._open.items()):
            opened.servers.discard(server_id)
            if not opened.servers:
                for place in opened.places.values():
                    _drop(place)
                del self._open[share_id]

    def _mount(self, share: Share, face: Face, place: str, opened: _Open) -> None:
        if face is Face.CLOSED:
            owner = f"mode=0,uid={_nobody_in_servers()}"
            kernel.mount(share.source, place, "tmpfs", Mount.RDONLY, f"size=4k,{owner}")
        elif face is Face.READ:
            kernel.bind(opened.places[Face.WRITE], place)
            kernel.seal(place)
        else:
            self._mount_content(share, place)

    def _mount_content(self, share: Share, place: str) -> None:
        # The table of mounts names descriptors, so that it does not show the path of the share.
        with tree.opened_disk(share.disk) as disk:
            blank = tree.open_directory(disk, (_BLANK,), make=True)
            content = tree.open_directory(disk, _CONTENT, make=True)
            try:
                if self._overlays:
                    overlay(named(blank), disk, _CONTENT[-1], place, share.source)
                else:
                    kernel.bind(named(content), place)
            finally:
                os.close(blank)
                os.close(content)


def _drop(place: str) -> None:
    kernel.unmount(place)
    with suppress(OSError):
        Path(place).rmdir()


def _nobody_in_servers() -> int:
    """An id that servers do not have, where there is one: not even root there opens its files."""
    return next((first for first, _ in identities.mapped_ids() if first >= identities.COUNT), 0)


def mount(server: Namespaces, shown: Shown, target: str) -> None:
    """Show a share at a directory of a running server, and be there from then on."""
    copied = kernel.locked_copy(shown.place, server.users)
    kernel.setns(server.mounts, Clone.NEWNS)
    kernel.mount_copy(copied, target)


def change(server: Namespaces, shown: Shown) -> None:
    """Show a share with this face wherever a server has mounted it, and be there from then on."""
    # The server's own /proc does not know this process.
    myself = os.open("/proc/self", os.O_PATH)
    faces = [mounted for mounted in mounts(myself) if mounted.target in shown.places]
    copied = kernel.locked_copy(shown.place, server.users)
    kernel.setns(server.mounts, Clone.NEWNS)
    found = [m for m in mounts(myself) if any(m.shows(face) for face in faces)]
    for mounted in reversed(found):
        kernel.unmount(mounted.target)
    whole = [m.target for m in found if any(m.root == f.root and m.shows(f) for f in faces)]
    for before, target in zip([None, *whole], whole, strict=False):
        kernel.mount_copy(copied if before is None else kernel.copy_mount(before), target)
