"""Contents of inputs: templates, environments and files, stored once under their hash.

The stacks of a tree share them. A decoded content is shared by all inputs that refer to it, as long
as one of them is in use: otherwise, each nested stack would hold its own copy of the files of its
tree. Values of inputs never change.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Mapping
from threading import Lock
from typing import Any
from weakref import WeakValueDictionary

import sqlalchemy as sa
from cachetools import LRUCache

from stoker.kernel.json.content import Content
from stoker.kernel.json.text import dumps
from stoker.store.schema import tables
from stoker.store.sql.compiled import InList

COLUMNS = ("template", "text", "environment", "files")  # columns of an input that refer to contents
# Characters of JSON text of the contents that stay cached without a user.
RECENT_CHARACTERS = 8 * 1024 * 1024
_SECTIONS = ("parameter_defaults", "resource_registry")
_FEW = 10  # sections up to this number of entries are not shared
_BODIES = InList(sa.select(tables.contents.c.hash, tables.contents.c.body), tables.contents.c.hash)


class ContentCache:
    """Decoded contents by their hash. Safe to use from many threads."""

    def __init__(self, most: int = RECENT_CHARACTERS) -> None:
        self._lock = Lock()
        self._used: WeakValueDictionary[str, Content] = WeakValueDictionary()
        self._recent: LRUCache[str, tuple[Any, int]] = LRUCache(most, lambda each: each[1])

    def read(
        self,
        connection: sa.Connection,
        rows: Iterable[Mapping[str, Any] | sa.RowMapping],
        decoded: Callable[[str], tuple[Any, int]],
    ) -> dict[str, Any]:
        """Return the contents that rows of inputs refer to, by hash.

        ``decoded`` returns the value of a stored text and the length of its JSON text.
        """
        hashes = {row[name] for row in rows for name in COLUMNS if row[name]}
        found: dict[str, Any] = {}
        with self._lock:
            for hash_ in hashes:
                known = self._known(hash_)
                if known is not None:
                    found[hash_] = known
        for row in _BODIES.find(connection, hashes - found.keys()):
            found[row["hash"]] = self._keep(row["hash"], *decoded(row["body"]))
        return found

    def _parts(self, value: Mapping[str, Any]) -> dict[str, Content]:
        """Return the large sections of an environment, which environments of a tree share."""
        large = {name: value[name] for name in _SECTIONS if isinstance(value.get(name), dict)}
        return {
            name: self._shared(part, hashlib.sha256(dumps(part).encode()).hexdigest())
            for name, part in large.items()
            if len(part) > _FEW
        }

    def _shared(self, value: Mapping[str, Any], hash_: str) -> Content:
        """Return the map, or an equal one that is in use: another thread may have read it."""
        with self._lock:
            return self._used.setdefault(hash_, Content(value, hash_))

    def _known(self, hash_: str) -> Any:
        recent = self._recent.get(hash_)
        return self._used.get(hash_) if recent is None else recent[0]

    def _keep(self, hash_: str, value: Any, length: int) -> Any:
        if isinstance(value, dict):
            value = self._shared({**value, **self._parts(value)}, hash_)
        with self._lock:
            if length <= self._recent.maxsize:
                self._recent[hash_] = value, length
        return value
