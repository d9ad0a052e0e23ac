"""Volumes in servers: directories that are mounted where devices would be.

A namespace has no block devices, so a volume is a directory with the files of its file system. The
fabric process mounts each once, as an overlay. Servers get copies of the mount: they all see one
file system, and find no path of the host in their tables of mounts.
"""

import os
import re
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from msgspec import Struct

from localcloud.fabric.interface import FabricError, Volume
from localcloud.fabric.isolation import kernel, tree
from localcloud.fabric.isolation.kernel import Clone
from localcloud.fabric.isolation.mount_table import mounts
from localcloud.fabric.isolation.tree import named
from localcloud.fabric.storage.base_image import BASE_ROOT
from localcloud.fabric.storage.disks import overlay

# In a volume's directory: an empty one to lie below its content, and where it is mounted.
_BLANK, _SEEN, _SEEN_ONLY = "blank", "seen", "seen-only"
_CONTENT = ("upper", "root")
_PARTITIONS = "/proc/partitions"
_VOLUME_DEVICE = re.compile("vd[b-z]")
_MAJOR = 254  # number of the driver of virtual disks
_ID_LENGTH = 20  # so much of a volume's id is in the name of the disk, as with virtio


class Shown(Struct, frozen=True):
    """A volume that is ready to be shown to servers."""

    device: str
    by_id: str  # the name of the disk that follows from the volume's id
    place: str  # where the fabric process has mounted it


@dataclass
class _Mounted:
    place: str
    servers: dict[str, Shown] = field(default_factory=dict)


class Volumes:
    """The volumes that servers have, mounted in the fabric process."""

    def __init__(self, base: Callable[[], Path], overlays: bool) -> None:
        self._base = base
        self._overlays = overlays
        self._mounted: dict[tuple[str, bool], _Mounted] = {}

    def open(self, server_id: str, volume: Volume) -> Shown:
        """Mount a volume for a server. Raises OSError, and FabricError without overlays."""
        key = (volume.id, volume.read_only)
        mounted = self._mounted.get(key)
        if mounted is None:
            name = _SEEN_ONLY if volume.read_only else _SEEN
            self._mount(volume, name)
            mounted = self._mounted[key] = _Mounted(str(volume.disk / name))
        by_id = f"virtio-{volume.id[:_ID_LENGTH]}"
        shown = mounted.servers[server_id] = Shown(volume.device, by_id, mounted.place)
        return shown

    def held(self, server_id: str, volume_id: str) -> Shown | None:
        """Return the mount of a volume in a server, or None."""
        for (known, _), mounted in self._mounted.items():
            if known == volume_id and server_id in mounted.servers:
                return mounted.servers[server_id]
        return None

    def close(self, server_id: str, volume_id: str | None = None) -> None:
        """Note that a server has a volume no longer, or none at all."""
        for key, mounted in list(self._mounted.items()):
            if volume_id not in (None, key[0]):
                continue
            mounted.servers.pop(server_id, None)
            if not mounted.servers:
                kernel.unmount(mounted.place)
                del self._mounted[key]

    def _mount(self, volume: Volume, name: str) -> None:
        image = volume.image or (self._base() / BASE_ROOT if volume.bootable else None)
        with tree.opened_disk(volume.disk) as disk:
            opened = [
                tree.open_directory(disk, (_BLANK,), make=True)
                if image is None
                else os.open(image, os.O_PATH),
                tree.open_directory(disk, _CONTENT, make=True),
                tree.open_directory(disk, (name,), make=True),
            ]
            try:
                lower, content, place = map(named, opened)
                self._mount_here(volume, disk, (lower, content), place)
            finally:
                for descriptor in opened:
                    os.close(descriptor)
        if volume.read_only and not self._overlays:
            kernel.seal(str(volume.disk / name))

    def _mount_here(self, volume: Volume, disk: int, layers: tuple[str, str], place: str) -> None:
        """Mount with paths that do not show the place of a volume."""
        lower, content = layers
        if not self._overlays:
            if volume.bootable:
                raise FabricError("a volume that a server boots from needs overlay mounts")
            kernel.bind(content, place)
        elif volume.read_only:
            # Without a directory for writes, a server cannot make it writable again.
            kernel.mount(
                "overlay", place, "overlay", options=f"lowerdir={content}:{lower},userxattr"
            )
        else:
            overlay(lower, disk, _CONTENT[-1], place)


def show(shown: Shown, copied: int) -> None:
    """Mount a copy of a volume at its device, in a server's own namespaces and root directory."""
    target, link = Path("/dev", shown.device), Path("/dev/disk/by-id", shown.by_id)
    target.mkdir(exist_ok=True)
    kernel.mount_copy(copied, str(target))
    link.parent.mkdir(parents=True, exist_ok=True)
    link.unlink(missing_ok=True)
    link.symlink_to(f"../../{shown.device}")
    tell_partitions()


def attach(mount_namespace: int, shown: Shown) -> None:
    """Show a volume in the mount namespace of a running server, and be there from then on."""
    copied = kernel.copy_mount(shown.place)
    kernel.setns(mount_namespace, Clone.NEWNS)
    show(shown, copied)


def detach(mount_namespace: int, shown: Shown) -> None:
    """Unmount a volume wherever it is in a server's mount namespace, and be there from then on."""
    # The server's own /proc does not know this process.
    myself = os.open("/proc/self", os.O_PATH)
    volume = next(m for m in mounts(myself) if m.target == shown.place)
    kernel.setns(mount_namespace, Clone.NEWNS)
    for mounted in reversed([m for m in mounts(myself) if m.shows(volume)]):
        kernel.unmount(mounted.target)
    with suppress(OSError):
        Path("/dev/disk/by-id", shown.by_id).unlink()
        Path("/dev", shown.device).rmdir()
    tell_partitions()


def tell_partitions() -> None:
    """Write the table, in which programs look for a volume to come. Its sizes are those of the
    file systems that the devices stand for.
    """
    lines = ["major minor  #blocks  name", ""]
    with os.scandir("/dev") as found:
        volumes = sorted(each.name for each in found if _VOLUME_DEVICE.fullmatch(each.name))
    for name in ("vda", *volumes):
        size = os.statvfs("/" if name == "vda" else f"/dev/{name}")
        minor = 16 * (ord(name[2]) - ord("a"))
        blocks = size.f_blocks * size.f_frsize // 1024
        lines.append(f"{_MAJOR:4} {minor:8} {blocks:10} {name}")
    with suppress(OSError):  # root in the server has put something else there
        table = os.open(_PARTITIONS, os.O_WRONLY | os.O_TRUNC | os.O_NOFOLLOW)
        with os.fdopen(table, "w") as file:
            file.write("\n".join(lines) + "\n")
