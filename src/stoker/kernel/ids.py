"""Names for new things. Drawn from one source so that a simulation can repeat them."""

import random
from typing import Protocol

ALPHABET = "abcdefghijklmnopqrstuvwxyz234567"
TOKEN_LENGTH = 12
_UUID_FIXED = 0xF000_C000_0000_0000_0000
"""The bits of a UUID that tell its version and variant; written out, as :mod:`uuid` is slow."""
_UUID_VERSION_4 = 0x4000_8000_0000_0000_0000


class Ids(Protocol):
    """A source of ids."""

    def uuid(self) -> str:
        """A new id of a stack, resource or event: a UUID in its usual notation."""

    def token(self) -> str:
        """An intent token: 12 characters of base 32, part of physical names."""


class RandomIds:
    """Ids from a random generator: the system's by default, a seeded one in simulations."""

    def __init__(self, source: random.Random | None = None) -> None:
        self._source = source or random.SystemRandom()

    def uuid(self) -> str:
        """A random UUID (version 4)."""
        drawn = self._source.getrandbits(128)
        drawn = drawn & ~_UUID_FIXED | _UUID_VERSION_4
        text = f"{drawn:032x}"
        return f"{text[:8]}-{text[8:12]}-{text[12:16]}-{text[16:20]}-{text[20:]}"

    def token(self) -> str:
        """Twelve random characters out of ``a-z2-7``."""
        drawn = self._source.getrandbits(5 * TOKEN_LENGTH)
        return "".join([ALPHABET[drawn >> 5 * place & 31] for place in range(TOKEN_LENGTH)])
