"""Nested templates that were read before: many stacks nest the same few."""

from __future__ import annotations

from collections import OrderedDict
from threading import Lock

from stoker.template.document import Template, parse

MAX_CHARACTERS = 1024 * 1024
"""Of the texts of all templates that are kept."""


class RecentTemplates:
    """Templates by text and address; those that were not used for long are given up first."""

    def __init__(self, max_characters: int = MAX_CHARACTERS) -> None:
        self._max_characters = max_characters
        self._characters = 0
        self._kept: OrderedDict[tuple[str, str | None], Template] = OrderedDict()
        self._lock = Lock()

    def parsed(self, text: str, url: str | None) -> Template:
        """The template in a text. Raises :class:`DiagnosticError`."""
        key = (text, url)
        with self._lock:
            known = self._kept.get(key)
            if known is not None:
                self._kept.move_to_end(key)
                return known
        made = parse(text, url)
        with self._lock:
            if key not in self._kept:
                self._kept[key] = made
                self._characters += len(text)
            while self._characters > self._max_characters and self._kept:
                (gone, _), _ = self._kept.popitem(last=False)
                self._characters -= len(gone)
        return made


_recent = RecentTemplates()


def parsed(text: str, url: str | None) -> Template:
    """A nested template; stacks that nest the same one share it. Raises ``DiagnosticError``."""
    return _recent.parsed(text, url)
