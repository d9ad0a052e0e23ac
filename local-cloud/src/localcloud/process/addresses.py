"""The floating addresses of one cloud, claimed so that no other cloud of this machine uses them.

Each cloud keeps its range of 127.24.0.0/16 forever, because URLs of its stacks name its addresses.
While it runs, it holds a socket with an abstract name that contains the range. So the kernel
excludes all others, even those of other users with unreadable files, and the name is free when the
process ends.
"""

import errno
import hashlib
import os
import secrets
import socket
import time
from pathlib import Path

from msgspec import Struct

_NUMBERS = range(4, 254)
_FILE = "floating-range"
_DATABASE = "cloud.sqlite"
_BEFORE_RANGES = 4
_DYING_SECONDS = 10.0
_POLL_SECONDS = 0.02


class AddressRangeError(Exception):
    """The range of addresses belongs to another cloud. The text contains the remedy."""


class AddressRange(Struct, frozen=True):
    """The range of a running cloud; it is ours as long as ``claim`` is open."""

    number: int
    claim: socket.socket

    @property
    def cidr(self) -> str:
        """The range, as 127.24.4.0/24."""
        return _cidr(self.number)


def claim_range(cloud_dir: Path, patience: float = _DYING_SECONDS) -> AddressRange:
    """Claim the range of a cloud, choosing one for a new cloud.

    Waits up to ``patience`` seconds for a range that is in use: the previous process of the same
    cloud may have been killed a moment ago. Raises :class:`AddressRangeError`.
    """
    known = _known(cloud_dir)
    if known is not None:
        deadline = time.monotonic() + patience
        while (claim := _claim(known)) is None and time.monotonic() < deadline:
            time.sleep(_POLL_SECONDS)
        if claim is None:
            raise AddressRangeError(
                f"{_cidr(known)}, the range of this cloud's floating IPs, is in use: another cloud "
                "of this machine has it while it runs. Stop that one, or begin anew in another "
                "data directory."
            )
        return AddressRange(known, claim)
    for number in _in_order_of_choice(cloud_dir):
        claim = _claim(number)
        if claim is not None:
            _note(cloud_dir, number)
            return AddressRange(number, claim)
    raise AddressRangeError(
        f"all of {len(_NUMBERS)} ranges of floating IPs from {_cidr(_NUMBERS[0])} on are in use by "
        "other clouds of this machine. Stop one of them."
    )


def _cidr(number: int) -> str:
    return f"127.24.{number}.0/24"


def _known(cloud_dir: Path) -> int | None:
    try:
        return int((cloud_dir / _FILE).read_text())
    except FileNotFoundError:
        # All clouds had the same range before they had one each.
        return _BEFORE_RANGES if (cloud_dir / _DATABASE).exists() else None


def _in_order_of_choice(cloud_dir: Path) -> list[int]:
    """All numbers, from one on that depends on the place: clouds that rest now meet seldom."""
    place = f"{os.getuid()}:{cloud_dir.resolve()}".encode()
    start = int.from_bytes(hashlib.sha256(place).digest()[:4]) % len(_NUMBERS)
    return [*_NUMBERS[start:], *_NUMBERS[:start]]


def _claim(number: int) -> socket.socket | None:
    claim = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM | socket.SOCK_CLOEXEC)
    try:
        claim.bind(f"\0stoker-floating-{_cidr(number)}")
    except OSError as error:
        claim.close()
        if error.errno == errno.EADDRINUSE:
            return None
        raise
    return claim


def _note(cloud_dir: Path, number: int) -> None:
    cloud_dir.mkdir(mode=0o700, parents=True, exist_ok=True)
    fresh = cloud_dir / f"{_FILE}.{secrets.token_hex(4)}"
    fresh.write_text(f"{number}\n")
    fresh.rename(cloud_dir / _FILE)
