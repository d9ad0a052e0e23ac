"""Names for new things. Drawn from one source so that a simulation can repeat them."""

import random
import uuid
from typing import Protocol

ALPHABET = "abcdefghijklmnopqrstuvwxyz234567"
TOKEN_LENGTH = 12


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
        return str(uuid.UUID(int=self._source.getrandbits(128), version=4))

    def token(self) -> str:
        """Twelve random characters out of ``a-z2-7``."""
        return "".join(self._source.choices(ALPHABET, k=TOKEN_LENGTH))
