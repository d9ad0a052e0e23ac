"""Which user and group ids exist inside a user namespace, and how its maps are written."""

import os
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

from localcloud.fabric import kernel
from localcloud.fabric.kernel import Clone


def mapped_ids(table: str = "uid_map") -> list[tuple[int, int]]:
    """The ids that exist here: pairs of first id and count."""
    lines = Path("/proc/self", table).read_text().splitlines()
    return [(int(first), int(count)) for first, _, count in (line.split() for line in lines)]


def has_many_ids() -> bool:
    """Whether programs can run under several user ids here, root and others."""
    return sum(count for _, count in mapped_ids()) > 1000


def _write(path: Path, content: str) -> None:
    # One write(2) for the whole map: the kernel takes no second one.
    descriptor = os.open(path, os.O_WRONLY)
    try:
        os.write(descriptor, content.encode())
    finally:
        os.close(descriptor)


def _map_identically(process: str) -> None:
    for table in ("uid_map", "gid_map"):
        lines = [f"{first} {first} {count}\n" for first, count in mapped_ids(table)]
        _write(Path("/proc", process, table), "".join(lines))


def _map_own_id(uid: int, gid: int) -> None:
    _write(Path("/proc/self/setgroups"), "deny")
    _write(Path("/proc/self/uid_map"), f"0 {uid} 1\n")
    _write(Path("/proc/self/gid_map"), f"0 {gid} 1\n")


def _subordinate(path: str, names: set[str]) -> tuple[str, str] | None:
    try:
        lines = Path(path).read_text().splitlines()
    except OSError:
        return None
    for line in lines:
        name, _, rest = line.partition(":")
        first, _, count = rest.partition(":")
        if name in names and count.strip().isdigit() and int(count) >= 65535:
            return first, "65535"
    return None


def _user_names(uid: int) -> set[str]:
    lines = Path("/etc/passwd").read_text().splitlines()
    fields = [line.split(":") for line in lines]
    return {str(uid)} | {entry[0] for entry in fields if len(entry) > 2 and entry[2] == str(uid)}


def _subordinate_mapper(process: str) -> Callable[[], None] | None:
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


def _mapper(process: str) -> Callable[[], None] | None:
    if os.geteuid() == 0 and has_many_ids():
        return lambda: _map_identically(process)
    return _subordinate_mapper(process)


def enter_user_namespace(others: Clone) -> None:
    """Move to a new user namespace, together with new namespaces of the other kinds.

    All ids that may be mapped are mapped: with privilege all ids there are, to themselves; else
    the user's subordinate ids; else root alone. Raises OSError when the kernel refuses.
    """
    uid, gid = os.geteuid(), os.getegid()
    # Named through /proc itself: that may be mounted for another process namespace than ours.
    mapper = _mapper(str(Path("/proc/self").readlink()))
    if mapper is None:
        kernel.unshare(Clone.NEWUSER | others)
        _map_own_id(uid, gid)
        return
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
    if status != 0:
        raise PermissionError("the id maps of the user namespace could not be written")
    os.setresgid(0, 0, 0)
    os.setresuid(0, 0, 0)
