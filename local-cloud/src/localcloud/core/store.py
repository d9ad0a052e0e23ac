"""The state of the cloud: JSON documents in memory, written through to one SQLite file.

Every service keeps its objects here. Reads are plain dictionary look-ups; every write is
committed before the call returns, so that an answer which was sent is never forgotten, whatever
kills the process. The store belongs to one event loop: it has no locks and must not be used from
other threads.
"""

import json
import sqlite3
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

Document = dict[str, Any]
# Called with a document before and after a change; None if the document does not exist.
Watcher = Callable[[Document | None, Document | None], None]

_SCHEMA = """
CREATE TABLE IF NOT EXISTS objects (
    kind TEXT NOT NULL,
    id TEXT NOT NULL,
    project_id TEXT,
    body TEXT NOT NULL,
    UNIQUE (kind, id)
)
"""
_UPSERT = """
INSERT INTO objects (kind, id, project_id, body) VALUES (?, ?, ?, ?)
ON CONFLICT (kind, id) DO UPDATE SET project_id = excluded.project_id, body = excluded.body
"""


class Collection:
    """All documents of one kind, in the order of their creation.

    The returned documents are the collection's own. Only :meth:`put` makes a change durable. So
    change a copy, or change and put without an ``await`` in between.
    """

    def __init__(self, store: "Store", kind: str) -> None:
        self.kind = kind
        self.revision = 0  # grows with each change, so that users of the collection can cache
        self._store = store
        self._documents: dict[str, Document] = {}
        self._indexes: dict[str, dict[Any, dict[str, None]]] = {}
        # Indexed values by document. Callers may change a document in place before they put it, so
        # that its former values are only known here.
        self._indexed: dict[str, dict[str, Any]] = {}
        self._watchers: list[Watcher] = []

    def __len__(self) -> int:
        return len(self._documents)

    def __contains__(self, key: object) -> bool:
        return key in self._documents

    def get(self, key: str) -> Document | None:
        """Return the document with this id, or None."""
        return self._documents.get(key)

    def put(self, document: Document) -> None:
        """Write the document under ``document["id"]``, in place of an earlier one."""
        self._store.write(self.kind, document)
        self.remember(document)

    def change(self, key: str, **changes: Any) -> Document | None:
        """Write changes to top-level fields; return the new document, or None for an unknown id."""
        found = self.get(key)
        if found is None:
            return None
        changed = {**found, **changes}
        self.put(changed)
        return changed

    def delete(self, key: str) -> None:
        """Remove the document; unknown ids are fine."""
        if key in self._documents:
            self._store.erase(self.kind, key)
            self.forget(key)

    def delete_all(self, **equal: Any) -> None:
        """Remove the documents whose top-level fields have these values."""
        for document in list(self.find(**equal)):
            self.delete(document["id"])

    def values(self) -> Iterable[Document]:
        """Return all documents; a snapshot, so that the loop over it may write."""
        return list(self._documents.values())

    def find(self, **equal: Any) -> Iterator[Document]:
        """Yield the documents whose top-level fields have these values."""
        buckets = [self._indexes[f].get(v, {}) for f, v in equal.items() if f in self._indexes]
        if "id" in equal:
            buckets.append({equal["id"]: None})
        smallest = min(buckets, key=len, default=self._documents)
        # A copy of the keys: callers write while they read.
        for key in list(smallest):
            document = self._documents.get(key)
            if document is not None and all(document.get(f) == v for f, v in equal.items()):
                yield document

    def index(self, fields: Iterable[str]) -> None:
        """Keep an index on each of these top-level fields; their values must be scalars."""
        for field in fields:
            if field not in self._indexes:
                self._indexes[field] = {}
                for key, document in self._documents.items():
                    self._index_one(field, key, document.get(field))

    def remember(self, document: Document) -> None:
        """Take a document that is already in the database into memory."""
        key = document["id"]
        self.revision += 1
        before = self._documents.get(key)
        self._documents[key] = document
        indexed = self._indexed.get(key, {})
        for field in self._indexes:
            value = document.get(field)
            # A document that stays in a bucket keeps its place there, because lists are in order of
            # creation.
            if field not in indexed or indexed[field] != value:
                self._unindex_one(field, key)
                self._index_one(field, key, value)
        self._notify(before, document)

    def forget(self, key: str) -> None:
        """Drop from memory a document that is no longer in the database."""
        self.revision += 1
        self._unindex(key)
        self._notify(self._documents.pop(key, None), None)

    def watch(self, watcher: Watcher) -> None:
        """Call the watcher after each change, also after one that is undone."""
        self._watchers.append(watcher)

    def _notify(self, before: Document | None, after: Document | None) -> None:
        for watcher in self._watchers:
            watcher(before, after)

    def _index_one(self, field: str, key: str, value: Any) -> None:
        self._indexes[field].setdefault(value, {})[key] = None
        self._indexed.setdefault(key, {})[field] = value

    def _unindex(self, key: str) -> None:
        for field in list(self._indexed.get(key, ())):
            self._unindex_one(field, key)
        self._indexed.pop(key, None)

    def _unindex_one(self, field: str, key: str) -> None:
        indexed = self._indexed.get(key, {})
        if field not in indexed:
            return
        value = indexed.pop(field)
        bucket = self._indexes[field][value]
        bucket.pop(key, None)
        if not bucket:
            del self._indexes[field][value]


class Store:
    """The database file and the collections in it. Raises :class:`sqlite3.Error` when it fails."""

    def __init__(self, path: Path | str) -> None:
        self._collections: dict[str, Collection] = {}
        self._touched: list[tuple[str, str]] | None = None
        # Autocommit: a write outside of a transaction is committed before it returns.
        self._connection = sqlite3.connect(path, isolation_level=None)
        # With a write-ahead log, NORMAL keeps every commit when the process is killed. Only a power
        # failure can undo the last ones.
        self._connection.execute("PRAGMA journal_mode=WAL")
        self._connection.execute("PRAGMA synchronous=NORMAL")
        self._connection.execute(_SCHEMA)
        # An update keeps the row ID of a document, so that this is the order of creation.
        for kind, body in self._connection.execute("SELECT kind, body FROM objects ORDER BY rowid"):
            self.collection(kind).remember(json.loads(body))

    def collection(self, kind: str, index: Iterable[str] = ()) -> Collection:
        """Return the one collection of this kind, with an index on each of the given fields."""
        collection = self._collections.get(kind)
        if collection is None:
            collection = self._collections[kind] = Collection(self, kind)
        collection.index(index)
        return collection

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """Group the writes of the block into one commit; an exception undoes all of them.

        Blocks may nest, the outermost commits. There must be no ``await`` inside: writes of other
        tasks would become part of it.
        """
        if self._touched is not None:
            yield
            return
        self._touched = []
        self._connection.execute("BEGIN IMMEDIATE")
        try:
            yield
            self._connection.execute("COMMIT")
        except BaseException:
            self._connection.execute("ROLLBACK")
            self._restore(self._touched)
            raise
        finally:
            self._touched = None

    def write(self, kind: str, document: Document) -> None:
        """Write the row of a document; :meth:`Collection.put` is for callers."""
        key = document["id"]
        body = json.dumps(document, separators=(",", ":"))
        project = document.get("project_id")
        if not isinstance(project, str):
            project = None
        self._connection.execute(_UPSERT, (kind, key, project, body))
        self._touch(kind, key)

    def erase(self, kind: str, key: str) -> None:
        """Remove the row of a document; :meth:`Collection.delete` is for callers."""
        self._connection.execute("DELETE FROM objects WHERE kind = ? AND id = ?", (kind, key))
        self._touch(kind, key)

    def close(self) -> None:
        """Close the file; the store is of no use afterwards."""
        self._connection.close()

    def _touch(self, kind: str, key: str) -> None:
        if self._touched is not None:
            self._touched.append((kind, key))

    def _restore(self, touched: list[tuple[str, str]]) -> None:
        # The database is rolled back already; memory and indexes follow it.
        for kind, key in dict.fromkeys(touched):
            row = self._connection.execute(
                "SELECT body FROM objects WHERE kind = ? AND id = ?", (kind, key)
            ).fetchone()
            if row is None:
                self._collections[kind].forget(key)
            else:
                self._collections[kind].remember(json.loads(row[0]))
