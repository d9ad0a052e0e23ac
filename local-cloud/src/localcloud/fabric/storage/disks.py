"""The disks of servers: the layers of their root directory.

The built-in ``host`` image is a base directory, made once (a copy of the readable files in /etc,
and an empty /var, /home and so on), below an overlay of the server's own; on top of that the host's
/usr, /opt and package database, each below an overlay of the server's own. Where the kernel or the
file system refuses overlays, the base is copied and /usr is read-only except /usr/local.
"""

import errno
import os
import secrets
import shutil
import stat
import sys
from pathlib import Path

from msgspec import Struct

from localcloud.fabric.interface import FabricError
from localcloud.fabric.isolation import kernel, tree
from localcloud.fabric.isolation.server_root import ServerRoot
from localcloud.fabric.isolation.tree import named
from localcloud.fabric.storage.base_image import BASE_ROOT, TOP_LINKS, own_layers

_SHARED = ("/usr", "/opt", "/var/lib/dpkg", "/var/lib/apt")
_HOST_LOCAL = "/.host/usr-local"
_DEVICES = ("null", "zero", "full", "random", "urandom", "tty")


def overlay(lower: str, disk: int, layer: str, target: str, source: str = "overlay") -> None:
    """Mount a writable view of ``lower`` at ``target``; changes are kept in the open ``disk``.

    They are in its directories ``upper`` and ``work``, below the name of the ``layer``. ``lower``
    may be several directories, the first one on top, with colons between. Tables of mounts name the
    ``source``. Raises OSError.
    """
    opened: list[int] = []
    try:
        opened.append(upper := tree.open_directory(disk, ("upper", layer), make=True))
        opened.append(work := tree.open_directory(disk, ("work", layer), make=True))
        os.fchmod(upper, stat.S_IMODE(Path(lower.partition(":")[0]).stat().st_mode))
        paths = f"lowerdir={lower},upperdir={named(upper)},workdir={named(work)}"
        kernel.mount(source, target, "overlay", options=f"{paths},userxattr")
    finally:
        for descriptor in opened:
            os.close(descriptor)


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
    """The layers of a root directory."""

    disk: Path
    base: Path  # the base of the `host` image
    image: Path | None  # an unpacked image, or None for the `host` image
    overlays: bool


class Disk:
    """A server's root directory, put together in the current mount namespace.

    A server's root may have put anything into it, such as links to places of the host: see
    :mod:`localcloud.fabric.isolation.server_root`. A server's mount table shows no paths of the
    host.
    """

    def __init__(self, layers: Layers) -> None:
        self._layers = layers
        with tree.opened_disk(layers.disk) as checked:
            self._disk = os.dup(checked)
        self._lower = os.open(layers.image or layers.base / BASE_ROOT, os.O_PATH)
        self._own = own_layers(layers.base)

    def mount(self) -> ServerRoot:
        """Mount the root directory with the parts shared with the host, and enter it.

        Raises OSError when a mount is refused, FabricError when an image needs overlays that the
        machine does not have.
        """
        layers = self._layers
        if layers.image is not None and not layers.overlays:
            raise FabricError(
                "an unpacked image needs overlay mounts, which this machine or the file system of "
                "the data directory refuses; use the image 'host', or put the data directory on "
                "ext4, xfs, btrfs or tmpfs"
            )
        if not layers.overlays:
            self._make_copy()
        target = tree.open_directory(self._disk, ("root",), make=True)
        if layers.overlays:
            overlay(named(self._lower), self._disk, "root", named(target))
        else:
            kernel.bind(named(target), named(target))
        os.close(target)
        root = ServerRoot(tree.open_directory(self._disk, ("root",)))  # what is mounted there
        os.fchdir(root.descriptor)
        if layers.image is None:
            self._share_host(root)
        return root

    def _make_copy(self) -> None:
        """Copy the base where there is none yet; a copy that was cut off is made again."""
        root = self._layers.disk / "root"
        if root.exists() and any(root.iterdir()):
            return
        fresh = self._layers.disk / "root.fresh"
        shutil.rmtree(fresh, ignore_errors=True)
        shutil.copytree(self._layers.base / BASE_ROOT, fresh, symlinks=True)
        _link_local(fresh / "local")
        (fresh / _HOST_LOCAL.lstrip("/")).mkdir(parents=True)
        fresh.rename(root)

    def _share_host(self, root: ServerRoot) -> None:
        for path in _SHARED:
            if Path(path).is_dir() and any(Path(path).iterdir()):
                if self._layers.overlays:
                    self._share(root, path)
                else:
                    _show(root, path, path)
        if not self._layers.overlays:
            _show(root, "/usr/local", _HOST_LOCAL)
            with root.directory("local") as local, root.directory("usr/local") as target:
                kernel.bind(local, target)
        for name in TOP_LINKS:
            if Path("/", name).is_dir() and not Path("/", name).is_symlink():
                _show(root, f"/{name}", f"/{name}")
        python = _python_elsewhere()
        if python is not None:
            _show(root, str(python), str(python))
            if not root.has("usr/bin/python3"):
                version = f"python{sys.version_info[0]}.{sys.version_info[1]}"
                root.link("usr/local/bin/python3", str(python / "bin" / version))

    def _share(self, root: ServerRoot, path: str) -> None:
        try:
            self._overlay(root, path, path)
        except OSError as error:
            if error.errno != errno.EINVAL:
                raise
            self._share_in_parts(root, path)

    def _overlay(self, root: ServerRoot, source: str, path: str) -> None:
        own = [f"{layer}{path}" for layer in self._own if Path(f"{layer}{path}").is_dir()]
        opened = [os.open(lower, os.O_PATH) for lower in (*own, source)]
        try:
            layer = path.strip("/").replace("/", "-")
            with root.directory(path) as target:
                overlay(":".join(map(named, opened)), self._disk, layer, target)
        finally:
            for descriptor in opened:
                os.close(descriptor)

    def _share_in_parts(self, root: ServerRoot, path: str) -> None:
        """Share a directory below which the host has mounted something.

        The kernel makes no overlay of that, so each directory in it gets its own, if possible; a
        directory with a mount in it is read-only.
        """
        for entry in os.scandir(path):
            if entry.is_symlink():
                root.link(entry.path, str(Path(entry.path).readlink()))
                continue
            if entry.is_dir():
                try:
                    self._overlay(root, entry.path, entry.path)
                    continue
                except OSError as error:
                    if error.errno != errno.EINVAL:
                        raise
            _show(root, entry.path, entry.path)

    def open_devices(self) -> dict[str, int]:
        """Open the host's devices that every program needs; the caller closes them."""
        return {name: os.open(f"/dev/{name}", os.O_PATH) for name in _DEVICES}


def _show(root: ServerRoot, source: str, path: str) -> None:
    opened = os.open(source, os.O_PATH)
    try:
        root.show(opened, path)
    finally:
        os.close(opened)


def probe_overlay(state: Path) -> OSError | None:
    """Mount an overlay once in a child's mount namespace; None when it works."""
    place = state / f"probe-{secrets.token_hex(4)}"
    for name in ("lower", "root"):
        (place / name).mkdir(parents=True, exist_ok=True)
    try:
        with tree.opened_disk(place) as disk:
            overlay(str(place / "lower"), disk, "root", str(place / "root"))
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
