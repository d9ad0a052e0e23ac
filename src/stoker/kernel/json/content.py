"""A document that never changes, and is stored under the hash of its JSON text."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


class Content(dict[str, Any]):
    """A map with the SHA-256 of its JSON text and its weight, once these are known."""

    __slots__ = ("__weakref__", "hash", "parsed", "weight")

    def __init__(self, content: Mapping[str, Any], hash_: str | None = None) -> None:
        super().__init__(content)
        self.hash = hash_
        # The values and the octets of texts, as counted for the cache of evaluations.
        self.weight: tuple[int, int] | None = None
        # The result of parsing the document, set by its parser.
        self.parsed: Any = None
