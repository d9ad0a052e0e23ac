"""Masks secrets in texts."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from functools import lru_cache
from itertools import chain
from typing import Any
from urllib.parse import quote

from stoker.kernel.json.tree import levels, replaced
from stoker.kernel.lazy import lazy

MASK = "******"
# Shorter values are masked only as whole words, because they occur inside too many others.
_WORDS = 4
_SHORTEST = 2


class Masking:
    """Masks values in texts, also in the forms that they have in JSON and URLs."""

    def __init__(self, values: Iterable[Any] = ()) -> None:
        found = (text for value in values for text in _texts(value))
        self._secrets = frozenset(text for text in found if len(text) >= _SHORTEST)

    @property
    def size(self) -> int:
        """Return the length of all secrets together."""
        return sum(map(len, self._secrets))

    def __bool__(self) -> bool:
        return bool(self._secrets)

    def __or__(self, other: Masking) -> Masking:
        # Return one of the two if possible: its pattern may be compiled already.
        if other._secrets <= self._secrets:
            return self
        if self._secrets <= other._secrets:
            return other
        return Masking(self._secrets | other._secrets)

    @lazy
    def _pattern(self) -> re.Pattern[str]:
        """The pattern, which is compiled on first use: most masks only become parts of others."""
        return _pattern_of(self._secrets)

    def text(self, text: str) -> str:
        """Return the text with a mask in place of each value."""
        return self._pattern.sub(MASK, text) if self._secrets else text

    def data(self, value: Any) -> Any:
        """Return data like JSON with all its texts masked; the same object if it has no secret."""
        if not self._secrets:
            return value
        masked = replaced(value, lambda leaf: self.text(leaf) if isinstance(leaf, str) else leaf)
        # The store encrypts an object once that several records of a commit share.
        return value if masked == value else masked


@lru_cache(maxsize=128)  # The masks of many nested stacks have the same secrets.
def _pattern_of(texts: frozenset[str]) -> re.Pattern[str]:
    """Return a pattern for texts in all their forms, the longest first."""
    forms = {form for text in texts for form in (text, json.dumps(text)[1:-1], quote(text))}
    patterns = [
        re.escape(form) if len(form) >= _WORDS else rf"(?<!\w){re.escape(form)}(?!\w)"
        for form in sorted(forms, key=len, reverse=True)
    ]
    return re.compile("|".join(patterns))


def _texts(value: Any) -> Iterable[str]:
    """Yield the texts and numbers inside a value."""
    for item in chain.from_iterable(levels(value)):
        if isinstance(item, str | int | float) and not isinstance(item, bool):
            yield str(item)
