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
# Messages cut long values, with an ellipsis or not. There, the beginning of a secret is masked from
# this number of characters.
_CUT = 6
_SHORTEST_CUT = 80  # characters of a text that may end in a value that was cut
_LONGEST_CUT = 1000  # characters of a value that a message shows at most
_ELLIPSIS = "…"


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
        """Return the text with a mask in place of each value, also of one that was cut."""
        if not self._secrets:
            return text
        masked = self._pattern.sub(MASK, text)
        if _ELLIPSIS not in text and len(text) < _SHORTEST_CUT:
            return masked
        return _ELLIPSIS.join(map(self._without_cut, masked.split(_ELLIPSIS)))

    def _without_cut(self, text: str) -> str:
        """Mask the beginning of a value at the end of a text."""
        for form in _forms_of(self._secrets):
            start = text.find(form[:_CUT], max(len(text) - min(len(form), _LONGEST_CUT), 0))
            while start >= 0 and len(form) > _CUT:
                if form.startswith(text[start:]):
                    return text[:start] + MASK
                start = text.find(form[:_CUT], start + 1)
        return text

    def data(self, value: Any) -> Any:
        """Return data like JSON with its texts and numbers masked; itself if it has no secret."""
        if not self._secrets:
            return value
        masked = replaced(value, self._leaf)
        # The store encrypts an object once that several records of a commit share.
        return value if masked == value else masked

    def _leaf(self, leaf: Any) -> Any:
        if isinstance(leaf, str):
            return self._pattern.sub(MASK, leaf)
        is_number = isinstance(leaf, int | float) and not isinstance(leaf, bool)
        return MASK if is_number and str(leaf) in self._secrets else leaf


@lru_cache(maxsize=128)  # The masks of many nested stacks have the same secrets.
def _forms_of(texts: frozenset[str]) -> list[str]:
    """Return texts in all their forms, the longest first."""
    forms = {*texts, *map(quote, texts)}
    for is_ascii in (False, True):
        forms.update(json.dumps(text, ensure_ascii=is_ascii)[1:-1] for text in texts)
    return sorted(forms, key=len, reverse=True)


@lru_cache(maxsize=128)
def _pattern_of(texts: frozenset[str]) -> re.Pattern[str]:
    """Return a pattern for texts in all their forms, the longest first."""
    patterns = [
        re.escape(form) if len(form) >= _WORDS else rf"(?<!\w){re.escape(form)}(?!\w)"
        for form in _forms_of(texts)
    ]
    return re.compile("|".join(patterns))


def _texts(value: Any) -> Iterable[str]:
    """Yield the texts and numbers inside a value."""
    for item in chain.from_iterable(levels(value)):
        if isinstance(item, str | int | float) and not isinstance(item, bool):
            yield str(item)
