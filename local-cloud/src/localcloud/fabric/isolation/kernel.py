"""The system calls that Python does not offer: namespaces, mounts, process options.

Thin wrappers around libc, so that a server boots without spawning ``unshare``, ``mount`` or
``ip``. Every function raises :class:`OSError` with the kernel's errno.
"""

import ctypes
import errno
import os
import signal
import struct
import time
from collections.abc import Iterator
from contextlib import contextmanager
from enum import IntFlag
from pathlib import Path

_libc = ctypes.CDLL(None, use_errno=True)

_PR_SET_PDEATHSIG = 1
_PR_SET_DUMPABLE = 4
_PR_SET_NAME = 15
_PR_SET_CHILD_SUBREAPER = 36


class Clone(IntFlag):
    """Kinds of namespaces, as in ``clone(2)``."""

    NEWTIME = 0x00000080
    NEWNS = 0x00020000
    NEWCGROUP = 0x02000000
    NEWUTS = 0x04000000
    NEWIPC = 0x08000000
    NEWUSER = 0x10000000
    NEWPID = 0x20000000
    NEWNET = 0x40000000


class Mount(IntFlag):
    """Flags of ``mount(2)``."""

    NONE = 0
    RDONLY = 1
    NOSUID = 2
    NODEV = 4
    NOEXEC = 8
    REMOUNT = 32
    BIND = 4096
    REC = 16384
    PRIVATE = 1 << 18


class Resolve(IntFlag):
    """Flags of ``openat2(2)`` for the resolution of a path."""

    NO_MAGICLINKS = 0x02  # refuse links of /proc that lead to open files of a process
    NO_SYMLINKS = 0x04  # refuse symbolic links of any kind, also as the last part
    BENEATH = 0x08  # refuse what leads out of the directory: absolute paths, `..`, links
    # Take the directory as the root directory: of absolute paths and links, and above which `..`
    # does not lead.
    IN_ROOT = 0x10


MNT_DETACH = 2
# Numbers of system calls that libc does not name; the same on all machines since Linux 5.2.
_OPEN_TREE, _MOVE_MOUNT = 428, 429
_OPENAT2 = 437  # the number on all machines, since Linux 5.6
_AT_FDCWD = -100
_CLONE_TREE = 1
_FROM_DESCRIPTOR = 4
_EMPTY_PATH = 0x1000
_PROTECTING = Mount.RDONLY | Mount.NOSUID | Mount.NODEV | Mount.NOEXEC


def _check(result: int, step: str) -> None:
    if result != 0:
        number = ctypes.get_errno()
        raise OSError(number, f"{step}: {os.strerror(number)}")


def open_at(directory: int, path: str, flags: int, resolve: Resolve, mode: int = 0) -> int:
    """Open a path that is resolved as said, relative to an open directory."""
    how = struct.pack("=QQQ", flags | os.O_CLOEXEC, mode, resolve)
    while True:
        found = int(_libc.syscall(_OPENAT2, directory, os.fsencode(path), how, len(how)))
        # EAGAIN: something was renamed meanwhile, so the kernel could not be sure.
        if found >= 0 or ctypes.get_errno() != errno.EAGAIN:
            break
    _check(min(found, 0), f"open {path}")
    return found


def unshare(flags: Clone) -> None:
    """Give the calling process new namespaces of these kinds."""
    _check(_libc.unshare(ctypes.c_int(flags)), f"unshare({flags!r})")


def setns(descriptor: int, kind: Clone) -> None:
    """Enter the namespace that the file descriptor stands for."""
    _check(_libc.setns(descriptor, ctypes.c_int(kind)), f"setns({kind!r})")


def mount(
    source: str, target: str, kind: str = "", flags: Mount = Mount.NONE, options: str = ""
) -> None:
    """Mount ``source`` at ``target``."""
    _check(
        _libc.mount(
            os.fsencode(source),
            os.fsencode(target),
            kind.encode() or None,
            ctypes.c_ulong(flags),
            options.encode() or None,
        ),
        f"mount {kind or 'bind'} on {target}",
    )


def bind(source: str, target: str) -> None:
    """Make ``source``, with all mounted below it, visible at ``target``."""
    mount(source, target, flags=Mount.BIND | Mount.REC)


def seal(target: str) -> None:
    """Make a mount read-only, keeping the protections that it has."""
    held = Mount(os.statvfs(target).f_flag) & _PROTECTING
    mount("none", target, flags=held | Mount.BIND | Mount.REMOUNT | Mount.RDONLY)


def copy_mount(path: str) -> int:
    """Return a descriptor of a copy of the mount at ``path`` that is mounted nowhere yet.

    An empty path is the current directory, which need not let us in.
    """
    flags = ctypes.c_uint(_CLONE_TREE | os.O_CLOEXEC | (0 if path else _EMPTY_PATH))
    found = int(_libc.syscall(_OPEN_TREE, _AT_FDCWD, os.fsencode(path), flags))
    _check(min(found, 0), f"open_tree({path})")
    return found


def locked_copy(path: str, users: int) -> int:
    """Return a copy as :func:`copy_mount` does, with options that root in a server cannot undo.

    The kernel locks them when the table of mounts is copied into the user namespace of less rights,
    ``users``; this process is there from then on.
    """
    os.chdir(path)  # the one place that needs no name in the copied table
    setns(users, Clone.NEWUSER)
    unshare(Clone.NEWNS)
    return copy_mount("")


def mount_copy(copied: int, target: str) -> None:
    """Mount a copy of :func:`copy_mount` at ``target``, also in another namespace."""
    done = _libc.syscall(
        _MOVE_MOUNT, copied, b"", _AT_FDCWD, os.fsencode(target), ctypes.c_uint(_FROM_DESCRIPTOR)
    )
    _check(int(done), f"move_mount on {target}")


def unmount(target: str) -> None:
    """Detach the mount at ``target``."""
    _check(_libc.umount2(os.fsencode(target), MNT_DETACH), f"unmount {target}")


def swap_root() -> None:
    """Make the mount at the current directory the root directory.

    The old one lies hidden on top of it, so that descriptors of its files can still be bound.
    """
    _check(_libc.pivot_root(b".", b"."), "pivot_root")


def drop_old_root() -> None:
    """Unmount the root directory that :func:`swap_root` has replaced."""
    os.chdir("/")
    unmount(".")
    os.chdir("/")


def start_clocks_at_zero() -> None:
    """Give this process clocks of its own that count from now: uptime and monotonic time."""
    unshare(Clone.NEWTIME)
    lines = []
    for name, clock in (("monotonic", time.CLOCK_MONOTONIC), ("boottime", time.CLOCK_BOOTTIME)):
        seconds, rest = divmod(-time.clock_gettime_ns(clock), 1_000_000_000)
        lines.append(f"{name} {seconds} {rest}\n")
    Path("/proc/self/timens_offsets").write_text("".join(lines))
    entered = open_namespace("time_for_children")
    try:
        setns(entered, Clone.NEWTIME)
    finally:
        os.close(entered)


def set_hostname(name: str) -> None:
    """Name the machine within the current UTS namespace."""
    raw = name.encode()
    _check(_libc.sethostname(raw, len(raw)), "sethostname")


def die_with_parent() -> None:
    """Have the kernel kill this process as soon as its parent ends, however it ends."""
    _check(_libc.prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0), "prctl(PR_SET_PDEATHSIG)")


def adopt_orphans() -> None:
    """Become the parent of processes below whose own parent ends."""
    _check(_libc.prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0), "prctl(PR_SET_CHILD_SUBREAPER)")


def show_memory(shown: bool) -> None:
    """Set whether other processes may read this one's memory and environment.

    Hidden, only the administrator of the host can read them, also after a fork; until an exec.
    """
    _check(_libc.prctl(_PR_SET_DUMPABLE, int(shown), 0, 0, 0), "prctl(PR_SET_DUMPABLE)")


def name_process(name: str) -> None:
    """Set the name that ``ps`` shows for this process."""
    _check(_libc.prctl(_PR_SET_NAME, name.encode()[:15], 0, 0, 0), "prctl(PR_SET_NAME)")


def open_namespace(kind: str) -> int:
    """Return a descriptor of the calling process's namespace ``net``, ``pid``, ..."""
    return os.open(f"/proc/self/ns/{kind}", os.O_RDONLY | os.O_CLOEXEC)


@contextmanager
def inside_network(descriptor: int, home: int) -> Iterator[None]:
    """Be in a network namespace for the length of a ``with`` block, then back in ``home``."""
    setns(descriptor, Clone.NEWNET)
    try:
        yield
    finally:
        setns(home, Clone.NEWNET)
