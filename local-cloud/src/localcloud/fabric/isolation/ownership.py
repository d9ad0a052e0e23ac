"""The host's owners of servers' files, where root runs the cloud and servers have other ids."""

import os
import stat
from pathlib import Path

from localcloud.fabric.isolation import tree

_COUNT = 65536


def give_to_servers(directory: Path, first: int) -> None:
    """Give a directory, with all in it, to servers whose root has the id ``first`` on the host.

    Files of another range, or of the host's own ids, get the same place in theirs. The directory
    itself is last: one that belongs to them is finished.
    """
    if directory.stat().st_uid == first:
        return
    for _, directories, files, opened in os.fwalk(directory):
        for name in (*directories, *files):
            _give(opened, name, first)
    above = os.open(directory.parent, os.O_PATH | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        _give(above, directory.name, first)
    finally:
        os.close(above)


def _give(directory: int, name: str, first: int) -> None:
    found = os.stat(name, dir_fd=directory, follow_symlinks=False)
    owner = (_moved(found.st_uid, first), _moved(found.st_gid, first))
    os.chown(name, *owner, dir_fd=directory, follow_symlinks=False)
    if not stat.S_ISLNK(found.st_mode):
        entry = tree.open_beneath(directory, name, os.O_PATH)
        try:
            tree.set_mode(entry, found.st_mode)  # the kernel has taken set-user-id bits away
        finally:
            os.close(entry)


def _moved(number: int, first: int) -> int:
    count = _COUNT if first >= _COUNT else _COUNT - first
    return number if first <= number < first + count else first + number % count
