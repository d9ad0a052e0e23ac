from pathlib import Path

import pytest

from localcloud.core.store import Store


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "cloud.sqlite"


def reopened(path: Path) -> Store:
    """Open the file as another process would now, without a close in the first one."""
    return Store(path)


def test_stored_document_is_visible_to_next_process(path: Path) -> None:
    store = Store(path)
    store.collection("port").put({"id": "p1", "project_id": "a", "tags": ["x"]})
    other = reopened(path)
    assert other.collection("port").get("p1") == {"id": "p1", "project_id": "a", "tags": ["x"]}
    store.close()
    other.close()


def test_documents_keep_the_order_of_their_first_put(path: Path) -> None:
    store = Store(path)
    things = store.collection("thing")
    for name in ("b", "a", "c"):
        things.put({"id": name})
    things.put({"id": "b", "changed": True})
    other = reopened(path)
    for one in (store, other):
        assert [d["id"] for d in one.collection("thing").values()] == ["b", "a", "c"]
        one.close()


def test_find_follows_changes_of_indexed_fields(path: Path) -> None:
    store = Store(path)
    ports = store.collection("port", index=("project_id", "name"))
    ports.put({"id": "1", "project_id": "a", "name": "x"})
    ports.put({"id": "2", "project_id": "a", "name": "y"})
    ports.put({"id": "1", "project_id": "b", "name": "x"})
    assert [d["id"] for d in ports.find(project_id="a")] == ["2"]
    assert [d["id"] for d in ports.find(project_id="b", name="x")] == ["1"]
    ports.delete("1")
    assert list(ports.find(project_id="b")) == []
    store.close()


def test_index_keeps_order_despite_other_changes(path: Path) -> None:
    store = Store(path)
    ports = store.collection("port", index=("project_id", "name"))
    for name in ("b", "a", "c"):
        ports.put({"id": name, "project_id": "p", "name": name})
    ports.put({"id": "b", "project_id": "p", "name": "new"})
    assert [d["id"] for d in ports.find(project_id="p")] == ["b", "a", "c"]
    assert [d["id"] for d in ports.find(name="new")] == ["b"]
    store.close()


def test_failed_transaction_changes_neither_memory_nor_file(path: Path) -> None:
    store = Store(path)
    things = store.collection("thing", index=("size",))
    things.put({"id": "kept", "size": 1})

    def fail_half_way() -> None:
        with store.transaction():
            things.put({"id": "kept", "size": 2})
            things.put({"id": "new", "size": 2})
            with store.transaction():
                things.delete("kept")
            raise ValueError

    with pytest.raises(ValueError):
        fail_half_way()
    assert things.values() == [{"id": "kept", "size": 1}]
    assert [d["id"] for d in things.find(size=1)] == ["kept"]
    other = reopened(path)
    assert other.collection("thing").values() == [{"id": "kept", "size": 1}]
    store.close()
    other.close()


def test_a_transaction_is_one_commit(path: Path) -> None:
    store = Store(path)
    other = reopened(path)
    with store.transaction():
        store.collection("thing").put({"id": "1"})
        assert Store(path).collection("thing").get("1") is None
    assert Store(path).collection("thing").get("1") is not None
    store.close()
    other.close()
