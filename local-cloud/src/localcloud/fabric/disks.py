"""The disks of servers: what their root directory is made of.

The built-in ``host`` image is a base directory, made once (a copy of what is readable in /etc,
and an empty /var, /home and so on), below an overlay of the server's own; on top of that the
host's /usr, /opt and package database, each below an overlay of the server's own. Where the
kernel or the file system refuses overlays, the base is copied and /usr is read-only except
/usr/local.
"""

import errno
import os
import secrets
import shutil
import stat
import sys
from pathlib import Path

from msgspec import Struct

from localcloud.fabric import kernel
from localcloud.fabric.base_image import BASE_ROOT, OWN, TOP_LINKS
from localcloud.fabric.interface import FabricError

_SHARED = ("/usr", "/opt", "/var/lib/dpkg", "/var/lib/apt")
_HOST_LOCAL = "/.host/usr-local"
_DEVICES = ("null", "zero", "full", "random", "urandom", "tty")


def _named(descriptor: int) -> str:
    """A path to what a descriptor stands for, wherever it lies and whoever may go there."""
    return f"/proc/self/fd/{descriptor}"


def overlay(lower: str, upper: str, work: str, target: str, source: str = "overlay") -> None:
    """Mount a writable view of ``lower`` at ``target``; changes are kept in ``upper``.

    ``lower`` may be several directories, the first one on top, with colons between. Tables of
    mounts name the ``source``.
    """
    for place in (upper, work):
        Path(place).mkdir(parents=True, exist_ok=True)
    Path(upper).chmod(stat.S_IMODE(Path(lower.partition(":")[0]).stat().st_mode))
    paths = f"lowerdir={lower},upperdir={upper},workdir={work}"
    kernel.mount(source, target, "overlay", options=f"{paths},userxattr")


def _link_local(local: Path) -> None:
    """Make a writable /usr/local whose entries are links to the host's."""
    for place in Path("/usr/local").iterdir():
        if place.is_symlink() or not place.is_dir():
            continue
        (local / place.name).mkdir(parents=True)
        for entry in place.iterdir():
            target = f"{_HOST_LOCAL}/{place.name}/{entry.name}"
            (local / place.name / entry.name).symlink_to(target)


def _python_elsewhere() -> Path | None:
    """The interpreter's installation where it lies outside the shared directories."""
    prefix = Path(sys.base_prefix).resolve()
    return None if any(prefix.is_relative_to(path) for path in _SHARED) else prefix


class Layers(Struct, frozen=True):
    """What a root directory is made of."""

    disk: Path
    base: Path
    """The base of the ``host`` image."""
    image: Path | None
    """An unpacked image, or None for the ``host`` image."""
    overlays: bool


class Disk:
    """A server's root directory, put together in the current mount namespace.

    What lies in it may be what a server's root has put there, as links to places of the host. So
    nothing is written into it, and no path in it is followed, before it has become the root
    directory; what is needed of the host has been opened by then. Nor do servers find paths of the
    host in their tables of mounts.
    """

    def __init__(self, layers: Layers) -> None:
        self._layers = layers
        self._disk = os.open(layers.disk, os.O_PATH)
        self._lower = os.open(layers.image or layers.base / BASE_ROOT, os.O_PATH)
        self._own = os.open(layers.base / OWN, os.O_PATH)
        self._shared: dict[str, int] = {}
        self._sealed: dict[str, int] = {}
        self._devices = {name: os.open(f"/dev/{name}", os.O_PATH) for name in _DEVICES}
        if layers.image is not None:
            return
        for path in _SHARED:
            source = Path(path)
            if source.is_dir() and any(source.iterdir()):
                self._shared[path] = os.open(path, os.O_PATH)
        for name in TOP_LINKS:
            if Path("/", name).is_dir() and not Path("/", name).is_symlink():
                self._sealed[f"/{name}"] = os.open(f"/{name}", os.O_PATH)
        python = _python_elsewhere()
        if python is not None:
            self._sealed[str(python)] = os.open(python, os.O_PATH)

    def mount_root(self) -> None:
        """Mount the root directory and go there.

        Raises OSError when a mount is refused, FabricError when an image needs overlays that the
        machine does not have.
        """
        layers = self._layers
        os.chdir(layers.disk)
        Path("root").mkdir(exist_ok=True)
        if layers.overlays:
            overlay(_named(self._lower), "upper/root", "work/root", "root")
        elif layers.image is not None:
            raise FabricError(
                "an unpacked image needs overlay mounts, which this machine or the file system of "
                "the data directory refuses; use the image 'host', or put the data directory on "
                "ext4, xfs, btrfs or tmpfs"
            )
        else:
            if not Path("root/etc").exists():
                shutil.copytree(layers.base / BASE_ROOT, "root", symlinks=True, dirs_exist_ok=True)
                _link_local(Path("root/local"))
                Path("root", _HOST_LOCAL.lstrip("/")).mkdir(parents=True)
            kernel.bind("root", "root")
        os.chdir("root")

    def mount_rest(self) -> None:
        """Mount what a server shares with the host, in the new root directory."""
        for path, source in self._shared.items():
            if self._layers.overlays:
                self._share(_named(source), path)
            else:
                _show(source, path)
        if self._shared and not self._layers.overlays:
            local = os.open("/usr/local", os.O_PATH)
            _show(local, _HOST_LOCAL)
            kernel.bind("/local", "/usr/local")
        for path, source in self._sealed.items():
            Path(path).mkdir(parents=True, exist_ok=True)
            _show(source, path)
        if self._layers.image is None and not Path("/usr/bin/python3").exists():
            _link_python()

    def _share(self, source: str, path: str) -> None:
        try:
            self._overlay(source, path)
        except OSError as error:
            if error.errno != errno.EINVAL:
                raise
            self._share_in_parts(source, path)

    def _overlay(self, source: str, path: str) -> None:
        disk, name = _named(self._disk), path.strip("/").replace("/", "-")
        own = Path(_named(self._own) + path)
        if own.is_dir():
            source = f"{own}:{source}"
        overlay(source, f"{disk}/upper/{name}", f"{disk}/work/{name}", path)

    def _share_in_parts(self, source: str, path: str) -> None:
        """Share a directory below which the host has mounted something.

        The kernel makes no overlay of that: so of each directory in it there is one, where it can
        be; what holds a mount itself is read-only.
        """
        for entry in os.scandir(source):
            target = Path(path, entry.name)
            if entry.is_symlink():
                if not target.is_symlink():
                    target.symlink_to(Path(entry.path).readlink())
                continue
            if not entry.is_dir():
                target.touch()
            else:
                target.mkdir(exist_ok=True)
                try:
                    self._overlay(entry.path, str(target))
                    continue
                except OSError as error:
                    if error.errno != errno.EINVAL:
                        raise
            kernel.bind(entry.path, str(target))
            kernel.seal(str(target))

    def mount_devices(self, directory: str) -> None:
        """Show the host's devices that every program needs."""
        for name, source in self._devices.items():
            Path(directory, name).touch()
            kernel.bind(_named(source), f"{directory}/{name}")


def _show(source: int, target: str) -> None:
    kernel.bind(_named(source), target)
    kernel.seal(target)


def _link_python() -> None:
    python = _python_elsewhere()
    if python is not None:
        link = Path("/usr/local/bin/python3")
        link.parent.mkdir(parents=True, exist_ok=True)
        link.unlink(missing_ok=True)
        link.symlink_to(python / "bin" / f"python{sys.version_info[0]}.{sys.version_info[1]}")


def probe_overlay(state: Path) -> OSError | None:
    """Mount an overlay once in a child's mount namespace; None when it works."""
    place = state / f"probe-{secrets.token_hex(4)}"
    for name in ("lower", "root"):
        (place / name).mkdir(parents=True, exist_ok=True)
    try:
        overlay(*(str(place / name) for name in ("lower", "upper", "work", "root")))
        (place / "root/file").write_text("x")
        kernel.unmount(str(place / "root"))
    except OSError as error:
        return error
    finally:
        shutil.rmtree(place, ignore_errors=True)
    return None


def remove_disk(disk: Path) -> None:
    """Remove a server's disk with all its files; an unknown one is fine."""
    if disk.exists():
        shutil.rmtree(disk)
