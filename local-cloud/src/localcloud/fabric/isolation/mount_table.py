"""The mounts of a process, as the kernel reports them."""

import os

from msgspec import Struct


class Namespaces(Struct, frozen=True):
    """Those of a server in which mounts are made, as descriptors."""

    mounts: int
    users: int


class Mounted(Struct, frozen=True):
    """One mount."""

    device: str
    root: str  # the directory of the file system that is mounted
    target: str

    def shows(self, other: "Mounted") -> bool:
        """Return whether this mount shows the same as another, or a part of it."""
        below = self.root == other.root or self.root.startswith(f"{other.root.rstrip('/')}/")
        return self.device == other.device and below


def mounts(process: int) -> list[Mounted]:
    """Return the mounts of a process in their order; ``process`` is a descriptor of /proc/PID."""
    table = os.open("mountinfo", os.O_RDONLY | os.O_CLOEXEC, dir_fd=process)
    with os.fdopen(table, encoding="utf-8", errors="surrogateescape") as file:
        fields = [line.split(" ") for line in file]
    return [Mounted(entry[2], _plain(entry[3]), _plain(entry[4])) for entry in fields]


def _plain(path: str) -> str:
    for sign in (" ", "\t", "\n", "\\"):
        path = path.replace(f"\\{ord(sign):03o}", sign)
    return path
