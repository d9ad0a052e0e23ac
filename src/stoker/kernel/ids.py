"""Ids of stacks, resources and events, and tokens of intents.

All come from one source, so that a simulation can repeat them.
"""

import os
import random
import time
from collections import deque
from functools import partial

TOKEN_LENGTH = 12
# The letter for each byte.
_BASE_32 = bytes(b"abcdefghijklmnopqrstuvwxyz234567"[byte & 31] for byte in range(256))
_VARIANT = {digit: "89ab"[int(digit, 16) & 3] for digit in "0123456789abcdef"}
_TIME_BITS = 60  # of a random time in nanoseconds: the years 1970 to 2006
# Bytes of an id at most, and the number of such pieces that are drawn together.
_PIECE, _AT_ONCE = 12, 256


_drawn: deque[bytes] = deque()
os.register_at_fork(after_in_child=_drawn.clear)  # two processes must not return the same ids


def _system_bytes(many: int) -> bytes:
    """Return random bytes of the system.

    They are read in blocks, because reading few bytes takes as long as all other work on an id.
    """
    while True:
        try:
            return _drawn.popleft()[:many]  # threads draw at the same time
        except IndexError:
            fresh = os.urandom(_PIECE * _AT_ONCE)
            _drawn.extend([fresh[at : at + _PIECE] for at in range(0, len(fresh), _PIECE)])


class RandomIds:
    """Ids from a random generator: the system's by default, a seeded one in simulations."""

    def __init__(self, source: random.Random | None = None) -> None:
        self._bytes = source.randbytes if source else _system_bytes
        # A simulation repeats the times in its ids, too.
        self._time_ns = partial(source.getrandbits, _TIME_BITS) if source else time.time_ns

    def uuid(self) -> str:
        """Return a UUID of version 7: the id of a stack, resource or event.

        It starts with the present time in 60 bits, as RFC 9562 describes in sections 5.7 and 6.2
        (method 3), and ends with 62 random bits. New ids are neighbours in every index of the
        database. Built here because :mod:`uuid` of Python 3.11 has no version 7.
        """
        milliseconds, left = divmod(self._time_ns(), 1_000_000)
        moment, text = f"{milliseconds:012x}", self._bytes(8).hex()
        fraction = (left << 12) // 1_000_000
        variant = _VARIANT[text[0]]
        return f"{moment[:8]}-{moment[8:]}-7{fraction:03x}-{variant}{text[1:4]}-{text[4:]}"

    def token(self) -> str:
        """Return an intent token, a part of physical names: 12 characters of ``a-z2-7``."""
        return self._bytes(TOKEN_LENGTH).translate(_BASE_32).decode("ascii")
