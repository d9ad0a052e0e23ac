"""A watcher of a collection is notified of each change, and of each one that is undone."""

import pytest

from localcloud.core.store import Document, Store


def test_watcher_gets_old_and_new_document():
    collection = Store(":memory:").collection("thing")
    heard: list[tuple[Document | None, Document | None]] = []
    collection.watch(lambda before, after: heard.append((before, after)))
    first, second = {"id": "1", "n": 1}, {"id": "1", "n": 2}
    collection.put(first)
    collection.put(second)
    collection.delete("1")
    assert heard == [(None, first), (first, second), (second, None)]


def test_a_watcher_hears_that_a_change_is_undone():
    store = Store(":memory:")
    collection = store.collection("thing")
    heard: list[Document | None] = []
    collection.watch(lambda _, after: heard.append(after))

    def put_and_fail() -> None:
        with store.transaction():
            collection.put({"id": "1"})
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        put_and_fail()
    assert heard == [{"id": "1"}, None]
