"""User and group ids inside a user namespace, and its id maps.

Root in a server is never root of the host. If root runs the cloud, servers get a range of unused
ids; if a user does, they get the user's subordinate ids, or else only the user's own id.
"""

import contextlib
import os
import resource
import secrets
import shutil
import socket
import subprocess
from collections.abc import Callable, Sequence
from pathlib import Path

from msgspec import Struct

from localcloud.fabric.isolation import kernel
from localcloud.fabric.isolation.kernel import Clone

COUNT = 65536  # ids of a server at most
# Range from which container managers allocate ids, above those of user accounts.
_RANGES = range(0x80000, 0x6FFF0000, COUNT)
_NOBODY = 65534
_HALF = 32768
_TRIES = 1000


class Extent(Struct, frozen=True):
    """A range of ids inside a namespace from ``inside`` on, and its start outside."""

    inside: int
    outside: int
    count: int


def mapped_ids(table: str = "uid_map") -> list[tuple[int, int]]:
    """The ids that exist here: pairs of first id and count."""
    lines = Path("/proc/self", table).read_text().splitlines()
    return [(int(first), int(count)) for first, _, count in (line.split() for line in lines)]


def has_many_ids() -> bool:
    """Return whether programs can run under several user ids here, root and others."""
    return sum(count for _, count in mapped_ids()) > 1000


def range_for_servers(state: Path) -> list[Extent] | None:
    """The ids that servers get where root runs the cloud; None for ordinary users.

    ``state`` is a directory of the cloud's own, which is given to the first of them: so they stay
    the same for ever, as the files of servers do. The host's ids have places above those of
    servers: the fabric process needs its files, servers do not get these.
    """
    if os.geteuid() != 0 or not has_many_ids():
        return None
    taken = _given_ranges()
    known = state.stat().st_uid
    found = known if known >= _HALF else None
    if found is None:
        for _ in range(_TRIES):
            first = secrets.choice(_RANGES)
            if _exist(first, COUNT) and not _overlaps(first, taken):
                found = first
                break
    if found is None:
        # Root of a container has few ids: half of them are enough.
        found = _HALF if _exist(_HALF, _HALF) else None
    if found is None:
        return None
    if known != found:
        _clear(state)
        os.chown(state, found, found)
    if found == _HALF:
        count = _NOBODY - _HALF
        return [Extent(0, found, count), Extent(_NOBODY, _NOBODY, 1), Extent(COUNT, 0, _HALF)]
    return [Extent(0, found, COUNT), Extent(COUNT, 0, COUNT)]


def _clear(directory: Path) -> None:
    for entry in directory.iterdir():
        if entry.is_dir() and not entry.is_symlink():
            shutil.rmtree(entry)
        else:
            entry.unlink()


def _exist(first: int, count: int) -> bool:
    return all(
        any(start <= first and first + count <= start + size for start, size in mapped_ids(table))
        for table in ("uid_map", "gid_map")
    )


def _given_ranges() -> list[tuple[int, int]]:
    """The ranges that users of this machine have been given: pairs of first id and count."""
    found = []
    for path in ("/etc/subuid", "/etc/subgid"):
        for line in _lines(path):
            _, _, rest = line.partition(":")
            first, _, count = rest.partition(":")
            if first.isdigit() and count.strip().isdigit():
                found.append((int(first), int(count)))
    return found


def _overlaps(first: int, taken: Sequence[tuple[int, int]]) -> bool:
    return any(first < start + count and start < first + COUNT for start, count in taken)


def _lines(path: str) -> list[str]:
    try:
        return Path(path).read_text().splitlines()
    except OSError:
        return []


def _write(path: Path, content: str) -> None:
    # One write(2) for the whole map: the kernel takes no second one.
    descriptor = os.open(path, os.O_WRONLY)
    try:
        os.write(descriptor, content.encode())
    finally:
        os.close(descriptor)


def _map_extents(process: str, extents: Sequence[Extent]) -> None:
    lines = "".join(f"{e.inside} {e.outside} {e.count}\n" for e in extents)
    for table in ("uid_map", "gid_map"):
        _write(Path("/proc", process, table), lines)


def _map_servers_ids(process: str) -> None:
    for table in ("uid_map", "gid_map"):
        lines = [
            f"{first} {first} {min(count, COUNT - first)}\n"
            for first, count in mapped_ids(table)
            if first < COUNT
        ]
        _write(Path("/proc", process, table), "".join(lines))


def _map_own_id(uid: int, gid: int) -> None:
    _write(Path("/proc/self/setgroups"), "deny")
    _write(Path("/proc/self/uid_map"), f"0 {uid} 1\n")
    _write(Path("/proc/self/gid_map"), f"0 {gid} 1\n")


def _subordinate(path: str, names: set[str]) -> tuple[str, str] | None:
    for line in _lines(path):
        name, _, rest = line.partition(":")
        first, _, count = rest.partition(":")
        if name in names and count.strip().isdigit() and int(count) >= 65535:
            return first, "65535"
    return None


def _user_names(uid: int) -> set[str]:
    fields = [line.split(":") for line in _lines("/etc/passwd")]
    return {str(uid)} | {entry[0] for entry in fields if len(entry) > 2 and entry[2] == str(uid)}


def subordinate_mapper(process: str) -> Callable[[], None] | None:
    """Return a function that maps a process's ids to its user's subordinate ones, or None."""
    uid, gid = os.geteuid(), os.getegid()
    names = _user_names(uid)
    users, groups = _subordinate("/etc/subuid", names), _subordinate("/etc/subgid", names)
    newuidmap, newgidmap = shutil.which("newuidmap"), shutil.which("newgidmap")
    if not (users and groups and newuidmap and newgidmap):
        return None

    def write() -> None:
        for program, own, (first, count) in ((newuidmap, uid, users), (newgidmap, gid, groups)):
            line = [program, process, "0", str(own), "1", "1", first, count]
            subprocess.run(line, check=True, capture_output=True, timeout=10)  # noqa: S603

    return write


def become_root_of_servers(others: Clone, extents: Sequence[Extent] | None) -> None:
    """Move the fabric process to a new user namespace, and to new ones of the other kinds.

    All ids that servers may have are mapped: ``extents`` if root runs the cloud; else the user's
    subordinate ids; else only this user, as root. Raises OSError when the kernel refuses.
    """
    uid, gid = os.geteuid(), os.getegid()
    # Named through /proc itself: that may be mounted for another process namespace than ours.
    process = str(Path("/proc/self").readlink())
    if extents is not None:
        mapped = _enter(others, lambda: _map_extents(process, extents))
    else:
        mapped = _enter(others, subordinate_mapper(process))
    if not mapped:
        _map_own_id(uid, gid)
        return
    # What the host's user may do through groups is not for servers.
    os.setgroups([])
    os.setresgid(0, 0, 0)
    os.setresuid(0, 0, 0)


def enter_server(others: Clone, most_processes: int, most_inotify: int, sysctls: int) -> None:
    """Move a server's first process to a user namespace below, and to others of its own.

    There are two because the kernel counts processes and inotify instances by the creator of a
    namespace. So the limits hold for one server with all its users. It cannot change those of the
    outer namespace, and no server uses up the share of another. ``sysctls`` is a descriptor of
    ``/proc/sys``, which is read-only in the server.
    """
    many = has_many_ids()
    _limit(resource.RLIMIT_NPROC, resource.getrlimit(resource.RLIMIT_NPROC)[1])
    helper = _fork_mapper() if many else None
    for kinds in (Clone(0), others):
        kernel.unshare(Clone.NEWUSER | kinds)
        if helper is None:
            _map_own_id(0, 0)
        else:
            helper.send(b"1")
            if helper.recv(1) != b"1":
                raise PermissionError("the id maps of the user namespace could not be written")
        _limit(resource.RLIMIT_NPROC, most_processes)
        if kinds == Clone(0):
            _limit_inotify(sysctls, most_inotify)
    if helper is not None:
        helper.close()
        os.wait()


def _fork_mapper() -> socket.socket:
    """Start a process that stays outside and maps our ids, in one namespace below another."""
    process = str(Path("/proc/self").readlink())
    ours, theirs = socket.socketpair()
    if os.fork() != 0:
        theirs.close()
        return ours
    code = 1
    try:
        ours.close()
        for _ in range(2):
            theirs.recv(1)
            _map_servers_ids(process)
            inside = os.open(f"/proc/{process}/ns/user", os.O_RDONLY)
            kernel.setns(inside, Clone.NEWUSER)
            theirs.send(b"1")
        code = 0
    finally:
        os._exit(code)


def _limit_inotify(sysctls: int, most: int) -> None:
    """Set how many inotify instances the present user namespace may have."""
    # Read-only in some containers, unknown to some kernels: then all servers share a limit.
    with contextlib.suppress(OSError):
        limit = os.open("user/max_inotify_instances", os.O_WRONLY | os.O_CLOEXEC, dir_fd=sysctls)
        try:
            os.write(limit, f"{most}\n".encode())
        finally:
            os.close(limit)


def _limit(kind: int, most: int) -> None:
    _, hard = resource.getrlimit(kind)
    if hard != resource.RLIM_INFINITY and (most == resource.RLIM_INFINITY or most > hard):
        most = hard
    resource.setrlimit(kind, (most, most))


def _enter(others: Clone, mapper: Callable[[], None] | None) -> bool:
    """Enter new namespaces; ``mapper``, which needs the old ones, writes the maps of ids.

    False when it has not.
    """
    if mapper is None:
        kernel.unshare(Clone.NEWUSER | others)
        return False
    ready_read, ready_write = os.pipe()
    helper = os.fork()
    if helper == 0:
        code = 1
        try:
            os.close(ready_write)
            if os.read(ready_read, 1):
                mapper()
                code = 0
        finally:
            os._exit(code)
    os.close(ready_read)
    try:
        kernel.unshare(Clone.NEWUSER | others)
        os.write(ready_write, b"1")
    finally:
        os.close(ready_write)
        _, status = os.waitpid(helper, 0)
    return status == 0
