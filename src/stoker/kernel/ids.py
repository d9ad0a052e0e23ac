"""Random ids, all drawn from one source, so that a simulation can repeat them."""

import os
import random
from collections import deque

TOKEN_LENGTH = 12
# The letter for each byte.
_BASE_32 = bytes(b"abcdefghijklmnopqrstuvwxyz234567"[byte & 31] for byte in range(256))
_VARIANT = {digit: "89ab"[int(digit, 16) & 3] for digit in "0123456789abcdef"}
# Bytes of an id at most, and the number of such pieces that are drawn together.
_PIECE, _AT_ONCE = 16, 256


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

    def uuid(self) -> str:
        """Return a random UUID (version 4): the id of a stack, resource or event.

        Built here because :mod:`uuid` is slow.
        """
        text = self._bytes(16).hex()
        variant = _VARIANT[text[16]]
        return f"{text[:8]}-{text[8:12]}-4{text[13:16]}-{variant}{text[17:20]}-{text[20:]}"

    def token(self) -> str:
        """Return an intent token, a part of physical names: 12 characters of ``a-z2-7``."""
        return self._bytes(TOKEN_LENGTH).translate(_BASE_32).decode("ascii")
