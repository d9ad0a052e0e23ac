"""The host's owners of servers' files, where root runs the cloud and servers have other ids."""

import os
import stat
from pathlib import Path

_COUNT = 65536


def give_to_servers(directory: Path, first: int) -> None:
    """Give a directory, with all in it, to servers whose root has the id ``first`` on the host.

    What belongs to another range, or to the host's own ids, goes to the same place in theirs. The
    directory itself comes last: one that belongs to them has been done.
    """
    if directory.stat().st_uid == first:
        return
    for place, directories, files in os.walk(directory):
        for name in (*directories, *files):
            _give(Path(place, name), first)
    _give(directory, first)


def _give(path: Path, first: int) -> None:
    found = path.lstat()
    os.lchown(path, _moved(found.st_uid, first), _moved(found.st_gid, first))
    if not stat.S_ISLNK(found.st_mode):
        path.chmod(stat.S_IMODE(found.st_mode))  # the kernel has taken set-user-id bits away


def _moved(number: int, first: int) -> int:
    count = _COUNT if first >= _COUNT else _COUNT - first
    return number if first <= number < first + count else first + number % count
