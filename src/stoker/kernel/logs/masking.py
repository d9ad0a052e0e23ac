"""Masks secrets in texts."""

from __future__ import annotations

import contextlib
import html
import json
import re
from collections.abc import Iterable
from functools import lru_cache
from itertools import chain
from typing import Any
from urllib.parse import quote, quote_plus

from stoker.kernel.json.tree import levels, replaced
from stoker.kernel.lazy import lazy

MASK = "******"
# Shorter values are masked only as whole words, because they occur inside too many others.
_WORDS = 4
_SHORTEST = 2
# Messages cut long values, with an ellipsis or at their end. There, the beginning of a secret is
# masked from this number of characters; behind an ellipsis also its end.
_CUT = 6
_SHORTEST_CUT = 80  # characters of a text that may end in a value that was cut
_LONGEST_CUT = 10_000  # characters of a message, and of a value in it
_ELLIPSIS = "…"
_LONGEST_IN_PATTERN = 1000  # characters; a pattern for 1 MiB takes seconds to compile
_NEVER = "(?!)"  # a pattern without a match
# Texts that a property takes as a number.
_INTEGER = re.compile(r"\s*[+-]?[0-9]{1,300}\s*")
_DECIMAL = re.compile(r"\s*[+-]?[0-9]{1,300}(\.[0-9]{0,300})?([eE][+-]?[0-9]{1,3})?\s*")


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

    def _without_whole(self, text: str) -> str:
        """Mask the values that a text contains completely."""
        for form in _forms_of(self._secrets):
            if len(form) <= _LONGEST_IN_PATTERN:
                break
            text = text.replace(form, MASK)
        return self._pattern.sub(MASK, text)

    def text(self, text: str) -> str:
        """Return the text with a mask in place of each value, also of one that was cut."""
        if not self._secrets:
            return text
        masked = self._without_whole(text)
        if _ELLIPSIS not in text and len(text) < _SHORTEST_CUT:
            return masked
        first, *others = masked.split(_ELLIPSIS)
        parts = [first, *map(self._without_end, others)]
        return _ELLIPSIS.join(map(self._without_beginning, parts))

    def _without_end(self, text: str) -> str:
        """Mask the end of a value at the beginning of a text."""
        for form in _forms_of(self._secrets):
            end = text.rfind(form[-_CUT:], 0, min(len(form), _LONGEST_CUT))
            while end >= 0 and len(form) > _CUT:
                if form.endswith(text[: end + _CUT]):
                    return MASK + text[end + _CUT :]
                end = text.rfind(form[-_CUT:], 0, end + _CUT - 1)
        return text

    def _without_beginning(self, text: str) -> str:
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
            return self._without_whole(leaf)
        is_number = isinstance(leaf, int | float) and not isinstance(leaf, bool)
        return MASK if is_number and str(leaf) in self._secrets else leaf


@lru_cache(maxsize=128)  # The masks of many nested stacks have the same secrets.
def _forms_of(texts: frozenset[str]) -> list[str]:
    """Return texts in all their forms, the longest first."""
    forms = set(chain.from_iterable(map(_forms_of_one, texts)))
    return sorted(forms, key=len, reverse=True)


def _forms_of_one(text: str) -> Iterable[str]:
    """Yield a text as it is, and as it is written in URLs, HTML, JSON and messages of Python."""
    yield from (text, quote(text), quote(text, safe=""), quote_plus(text), html.escape(text))
    for is_ascii in (False, True):
        yield json.dumps(text, ensure_ascii=is_ascii)[1:-1]
    for other in ("'", '"'):  # The quotes around a text depend on those inside.
        yield repr(other + text)[1:-1].removeprefix("\\").removeprefix(other)


@lru_cache(maxsize=128)
def _pattern_of(texts: frozenset[str]) -> re.Pattern[str]:
    """Return a pattern for texts in all their forms but very long ones, the longest first."""
    patterns = [
        re.escape(form) if len(form) >= _WORDS else rf"(?<!\w){re.escape(form)}(?!\w)"
        for form in _forms_of(texts)
        if len(form) <= _LONGEST_IN_PATTERN
    ]
    return re.compile("|".join(patterns) or _NEVER)


def _texts(value: Any) -> Iterable[str]:
    """Yield the texts and numbers inside a value; numbers in all their forms."""
    for item in chain.from_iterable(levels(value)):
        if isinstance(item, str | int | float) and not isinstance(item, bool):
            yield str(item)
            yield from _numbers_in(item)


def _numbers_in(item: str | float) -> Iterable[str]:
    """Yield a number, or a text that is one, as an integer and with a decimal point."""
    number: float
    if not isinstance(item, str):
        number = item
    elif _INTEGER.fullmatch(item):
        number = int(item)
    elif _DECIMAL.fullmatch(item):
        number = float(item)
    else:
        return
    with contextlib.suppress(OverflowError):  # A property takes no number that is too large.
        yield from (str(number), str(float(number)))
        if float(number).is_integer():
            yield str(int(number))
