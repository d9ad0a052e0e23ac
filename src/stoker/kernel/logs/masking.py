"""Masks secrets in texts."""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterable
from itertools import chain
from typing import Any
from urllib.parse import quote

from stoker.kernel.json.tree import levels, replaced

MASK = "******"
# Shorter values are masked only as whole words, because they occur inside too many others.
_WORDS = 4
_SHORTEST = 2


class Masking:
    """Masks values in texts, also in the forms that they have in JSON and URLs."""

    def __init__(self, values: Iterable[Any] = ()) -> None:
        texts = {text for value in values for text in _texts(value) if len(text) >= _SHORTEST}
        self._pattern = _pattern_of(texts) if texts else None

    def __bool__(self) -> bool:
        return self._pattern is not None

    def text(self, text: str) -> str:
        """Return the text with a mask in place of each value."""
        return text if self._pattern is None else self._pattern.sub(MASK, text)

    def data(self, value: Any) -> Any:
        """Return data like JSON with all its texts masked."""
        if self._pattern is None:
            return value
        return replaced(value, lambda leaf: self.text(leaf) if isinstance(leaf, str) else leaf)


def _pattern_of(texts: Collection[str]) -> re.Pattern[str]:
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
