"""A cache of parsed nested templates: many stacks nest the same few."""

from __future__ import annotations

from threading import Lock

from cachetools import LRUCache, cached

from stoker.template.document import Template, parse_nested

MAX_CHARACTERS = 1024 * 1024
"""Of the texts of all templates that are kept."""


def _characters(template: Template) -> int:
    return len(template.source.text or "")


@cached(LRUCache(MAX_CHARACTERS, _characters), lock=Lock())
def parsed(text: str, url: str | None) -> Template:
    """A nested template; stacks that nest the same one share it. Raises ``DiagnosticError``."""
    return parse_nested(text, url)
