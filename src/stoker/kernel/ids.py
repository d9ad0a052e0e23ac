"""Names for new things. Drawn from one source so that a simulation can repeat them."""

import random
from typing import Protocol

TOKEN_LENGTH = 12
_BASE_32 = "abcdefghijklmnopqrstuvwxyz234567"


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
        """A random UUID (version 4); written out, as :mod:`uuid` is slow."""
        text = self._source.randbytes(16).hex()
        variant = "89ab"[int(text[16], 16) & 3]
        return f"{text[:8]}-{text[8:12]}-4{text[13:16]}-{variant}{text[17:20]}-{text[20:]}"

    def token(self) -> str:
        """Twelve random characters out of ``a-z2-7``."""
        return "".join([_BASE_32[drawn & 31] for drawn in self._source.randbytes(TOKEN_LENGTH)])
