"""A document that never changes, and is stored under the hash of its JSON text."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from typing import Any

from stoker.kernel.json.tree import weigh


class Content(dict[str, Any]):
    """A map with the SHA-256 of its JSON text and its weight, once these are known."""

    __slots__ = ("__weakref__", "hash", "parsed", "weight")

    def __init__(self, content: Mapping[str, Any], hash_: str | None = None) -> None:
        super().__init__(content)
        self.hash = hash_
        # The values and the octets of texts, once counted by `weight_of`.
        self.weight: tuple[int, int] | None = None
        # The result of parsing the document, set by its parser.
        self.parsed: Any = None


def weight_of(tree: Any, values: int = sys.maxsize, octets: int = sys.maxsize) -> tuple[int, int]:
    """Return the number of values in a tree, and of octets of its texts, up to these limits.

    The walk stops there, and the result exceeds them. A content keeps a complete count.
    """
    if isinstance(tree, Content) and tree.weight is not None:
        return tree.weight
    counted, _, weight = weigh(tree, values, octets)
    if isinstance(tree, Content) and counted <= values and weight <= octets:
        tree.weight = counted, weight
    return counted, weight
