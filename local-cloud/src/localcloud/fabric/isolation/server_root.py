"""The root directory of a server, with /proc and devices, before it becomes the root.

The server controls its content. It may have replaced /etc or /usr with links, even with links to
/proc/self/fd, where a process with open files of the host finds those. So the kernel resolves paths
as for the server's own programs (openat2 with RESOLVE_IN_ROOT), but refuses links to open files of
processes (RESOLVE_NO_MAGICLINKS). Mounts use the opened descriptors. All this is done while the
host's root directory is still in place; afterwards the fabric writes nothing for a server with its
own rights.
"""

import errno
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path, PurePosixPath

from localcloud.fabric.isolation import kernel
from localcloud.fabric.isolation.kernel import Mount, Resolve
from localcloud.fabric.isolation.tree import named

_DEVICE_LINKS = {
    "fd": "/proc/self/fd",
    "stdin": "/proc/self/fd/0",
    "stdout": "/proc/self/fd/1",
    "stderr": "/proc/self/fd/2",
    "ptmx": "pts/ptmx",
}
_READ_ONLY_PROC = ("sys", "bus", "fs", "irq", "sysrq-trigger")
_HIDDEN_PROC = (
    "kcore", "keys", "key-users", "kmsg", "kallsyms", "timer_list", "timer_stats", "sched_debug",
    "latency_stats", "vmallocinfo", "interrupts", "acpi", "asound", "scsi",
)  # fmt: skip
_WITHIN = Resolve.IN_ROOT | Resolve.NO_MAGICLINKS
_PROTECTION = Mount.NOSUID | Mount.NODEV | Mount.NOEXEC


class ServerRoot:
    """An open directory that becomes the root directory. Paths may start with a slash or not."""

    def __init__(self, descriptor: int) -> None:
        self.descriptor = descriptor

    def _open(self, path: str, flags: int) -> int:
        return kernel.open_at(self.descriptor, path.lstrip("/") or ".", flags, _WITHIN)

    def has(self, path: str) -> bool:
        """Return whether a path exists, links followed."""
        try:
            os.close(self._open(path, os.O_PATH))
        except OSError:
            return False
        return True

    @contextmanager
    def directory(self, path: str) -> Iterator[str]:
        """Open a directory, made if missing; yield a path for system calls."""
        opened = self._made(PurePosixPath("/", path))
        try:
            yield named(opened)
        finally:
            os.close(opened)

    def _made(self, path: PurePosixPath) -> int:
        try:
            return self._open(str(path), os.O_PATH | os.O_DIRECTORY)
        except FileNotFoundError:
            if path == path.parent:
                raise
        with self._above(path) as parent:
            os.mkdir(path.name, dir_fd=parent)
        return self._open(str(path), os.O_PATH | os.O_DIRECTORY)

    @contextmanager
    def _above(self, path: PurePosixPath) -> Iterator[int]:
        parent = self._made(path.parent)
        try:
            yield parent
        finally:
            os.close(parent)

    @contextmanager
    def file(self, path: str) -> Iterator[str]:
        """Open something that is no directory, made empty where it is missing; yields a path."""
        place = PurePosixPath("/", path)
        if not self.has(path):
            with self._above(place) as parent:
                flags = os.O_CREAT | os.O_EXCL | os.O_WRONLY | os.O_CLOEXEC
                os.close(os.open(place.name, flags, 0o644, dir_fd=parent))
        opened = self._open(path, os.O_PATH)
        try:
            yield named(opened)
        finally:
            os.close(opened)

    def link(self, path: str, target: str) -> None:
        """Make a symbolic link, in the place of any other file."""
        place = PurePosixPath("/", path)
        with self._above(place) as parent:
            with suppress(FileNotFoundError):
                os.unlink(place.name, dir_fd=parent)
            os.symlink(target, place.name, dir_fd=parent)

    def show(self, source: int, path: str) -> None:
        """Show an open file or directory of the host, read-only."""
        is_directory = stat.S_ISDIR(os.fstat(source).st_mode)
        with self.directory(path) if is_directory else self.file(path) as target:
            kernel.bind(named(source), target)
        self.seal(path)

    def seal(self, path: str) -> None:
        """Make the mount at a path read-only."""
        opened = self._open(path, os.O_PATH)  # what is on top there now
        try:
            kernel.seal(named(opened))
        finally:
            os.close(opened)

    def mount_devices(self, devices: dict[str, int]) -> None:
        """Mount a /dev with these open devices of the host and the usual links."""
        with self.directory("dev") as target:
            kernel.mount("tmpfs", target, "tmpfs", Mount.NOSUID, "mode=755,size=64k")
        with self.directory("dev") as opened:
            dev = Path(opened)  # all our own from here on: it was empty
            for name, source in devices.items():
                (dev / name).touch()
                kernel.bind(named(source), str(dev / name))
            for name, link in _DEVICE_LINKS.items():
                (dev / name).symlink_to(link)
            for name in ("pts", "shm"):
                (dev / name).mkdir()
            terminals = "newinstance,ptmxmode=0666,mode=620"
            flags = Mount.NOSUID | Mount.NOEXEC
            kernel.mount("devpts", str(dev / "pts"), "devpts", flags, terminals)
            flags = Mount.NOSUID | Mount.NODEV
            kernel.mount("tmpfs", str(dev / "shm"), "tmpfs", flags, "mode=1777,size=256m")
            os.mkfifo(dev / "console", 0o622)
            (dev / "console").chmod(0o622)

    def mount_run(self) -> None:
        """Mount an empty /run."""
        with self.directory("run") as target:
            flags = Mount.NOSUID | Mount.NODEV
            kernel.mount("tmpfs", target, "tmpfs", flags, "mode=755,size=256m")
        with self.directory("run/lock") as opened:
            Path(opened).chmod(0o1777)

    def mount_sys(self) -> None:
        """Mount /sys, read-only, where the kernel allows it."""
        with self.directory("sys") as target, suppress(OSError):
            # Where /sys is hidden in part, as in containers, the kernel shows none of it.
            kernel.mount("sysfs", target, "sysfs", _PROTECTION | Mount.RDONLY)

    def mount_proc(self, own: bool) -> None:
        """Mount a /proc: one of the server's ``own``, else that of the host."""
        self._make_real("proc")
        with self.directory("proc") as target:
            if not own:
                kernel.bind("/proc", target)
                return
            kernel.mount("proc", target, "proc", _PROTECTION)
        with self.directory("proc") as opened:
            proc = Path(opened)
            for name in _READ_ONLY_PROC:
                if (proc / name).exists():
                    kernel.bind(str(proc / name), str(proc / name))
                    kernel.seal(str(proc / name))
            for name in _HIDDEN_PROC:
                if (proc / name).is_dir():
                    kernel.mount("tmpfs", str(proc / name), "tmpfs", Mount.RDONLY, "size=4k")
                elif (proc / name).exists():
                    kernel.bind("/dev/null", str(proc / name))

    def _make_real(self, name: str) -> None:
        """Put a directory at the top in the place of a link or a file."""
        try:
            found = os.stat(name, dir_fd=self.descriptor, follow_symlinks=False)
            if stat.S_ISDIR(found.st_mode):
                return
            os.unlink(name, dir_fd=self.descriptor)
        except OSError as error:
            if error.errno != errno.ENOENT:
                raise
        os.mkdir(name, dir_fd=self.descriptor)

    def cover_partitions(self) -> None:
        """Give the server a table of block devices of its own, in place of that of the host."""
        with self.directory("run") as opened, self.directory("proc") as proc:
            own = Path(opened, "partitions")
            own.touch(mode=0o444)
            kernel.bind(str(own), f"{proc}/partitions")
            own.unlink()
