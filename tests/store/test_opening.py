"""Databases that are opened or refused, and their keys."""

from __future__ import annotations

import shutil
import sqlite3
import stat
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest
import sqlalchemy as sa
from tests.store.test_contract import stack_in

from stoker.engine.model.interfaces import PublicChange, StoreError
from stoker.engine.model.requests import StackQuery
from stoker.store.opening import OpenStore
from stoker.store.schema import tables
from stoker.store.sql.databases import open_database
from stoker.store.sql.foreign import UnusableDatabaseError


@contextmanager
def opened(
    data_dir: Path, url: str | None = None, passphrase: str | None = None
) -> Iterator[OpenStore]:
    store = OpenStore(url, data_dir, passphrase)
    try:
        yield store
    finally:
        store.close()


def refusal(data_dir: Path, url: str | None = None, passphrase: str | None = None) -> str:
    with pytest.raises(UnusableDatabaseError) as refused:
        OpenStore(url, data_dir, passphrase)
    text = str(refused.value)
    assert "\n" not in text
    return text


@pytest.mark.parametrize(
    "url",
    [
        "mysql+pymysql://heat:secret@controller/heat?charset=utf8",
        "mysql://heat:secret@controller/heat",
        "oracle://heat:secret@controller/heat",
        "postgresql+pg8000://heat:secret@controller/heat",
        "no url, but a secret",
        "nosuch://x:secret@y/z",
    ],
)
def test_unsupported_databases_are_refused(tmp_path: Path, url: str) -> None:
    text = refusal(tmp_path, url)
    assert "postgresql+psycopg://" in text
    assert "secret" not in text


def test_database_of_another_program_is_not_touched(tmp_path: Path) -> None:
    file = tmp_path / "heat.sqlite"
    with closing(sqlite3.connect(file)) as heats:
        heats.execute("CREATE TABLE alembic_version (version_num TEXT)")
        heats.execute("CREATE TABLE stack (id TEXT)")
        heats.commit()
    before = file.read_bytes()
    text = refusal(tmp_path, f"sqlite:///{file}")
    assert "belongs to another program" in text
    assert "stack" in text
    assert file.read_bytes() == before
    assert {path.name for path in tmp_path.iterdir()} == {"heat.sqlite"}


def test_half_a_checkpoint_is_completed_after_a_crash(tmp_path: Path) -> None:
    crashed = tmp_path / "crashed"
    crashed.mkdir()
    with opened(tmp_path) as store, store._database.connect() as connection:
        for name in ("stoker.db", "stoker.db-wal", "secret.key"):
            shutil.copy(tmp_path / name, crashed)
        pages = connection.execute(sa.text("PRAGMA page_count")).scalar()
        expected = connection.execute(sa.select(tables.marks)).all()
    # The first page names the size of the file, and the later pages are not there yet.
    first_page = (tmp_path / "stoker.db").read_bytes()[:4096]
    with (crashed / "stoker.db").open("r+b") as file:
        file.write(first_page)
    assert (crashed / "stoker.db").stat().st_size < pages * 4096
    with opened(crashed) as store, store._database.connect() as connection:
        assert connection.execute(sa.select(tables.marks)).all() == expected


def test_file_that_is_no_database_is_refused(tmp_path: Path) -> None:
    (tmp_path / "x").write_text("hello")
    assert "cannot be read" in refusal(tmp_path, f"sqlite:///{tmp_path}/x")


def test_database_of_a_newer_release_is_refused(tmp_path: Path) -> None:
    with opened(tmp_path) as store, store._database.begin() as connection:
        connection.execute(sa.text("UPDATE alembic_version SET version_num = '9999'"))
        connection.execute(sa.text("UPDATE marks SET value = '9999' WHERE name = 'usable_from'"))
    assert "newer release" in refusal(tmp_path)


def test_lost_key_is_noticed_and_not_replaced(tmp_path: Path) -> None:
    with opened(tmp_path):
        pass
    (tmp_path / "secret.key").rename(tmp_path / "elsewhere")
    assert "secret.key is missing" in refusal(tmp_path)
    assert not (tmp_path / "secret.key").exists()
    (tmp_path / "elsewhere").rename(tmp_path / "secret.key")
    with opened(tmp_path):
        pass


def test_another_key_is_noticed(tmp_path: Path) -> None:
    with opened(tmp_path):
        pass
    with opened(tmp_path / "other"):
        pass
    (tmp_path / "other/secret.key").rename(tmp_path / "secret.key")
    assert "secret.key is not the key" in refusal(tmp_path)


def test_another_passphrase_is_noticed(tmp_path: Path) -> None:
    with opened(tmp_path, passphrase="one"):
        pass
    assert "auth_encryption_key is not the key" in refusal(tmp_path, passphrase="two")
    with opened(tmp_path, passphrase="one"):
        pass


def test_key_is_tried_on_contents_without_check(tmp_path: Path) -> None:
    with opened(tmp_path, passphrase="one") as store:
        encrypted = store.store._cipher.encrypt({"a": 1})
        with store._database.begin() as connection:
            connection.execute(tables.marks.delete())
            connection.execute(tables.contents.insert(), {"hash": "h", "body": encrypted})
    assert "is not the key" in refusal(tmp_path, passphrase="two")
    with opened(tmp_path, passphrase="one"):
        pass


def test_files_are_private_to_their_owner(tmp_path: Path) -> None:
    with opened(tmp_path / "data"):
        modes = {p.name: stat.S_IMODE(p.stat().st_mode) for p in (tmp_path / "data").iterdir()}
    assert modes["stoker.db"] == modes["secret.key"] == 0o600
    assert set(modes.values()) == {0o600}
    assert stat.S_IMODE((tmp_path / "data").stat().st_mode) == 0o700


def test_empty_key_file_is_refused_and_left(tmp_path: Path) -> None:
    with opened(tmp_path):
        pass
    kept = (tmp_path / "secret.key").read_bytes()
    (tmp_path / "secret.key").write_bytes(b"")
    assert "secret.key is empty" in refusal(tmp_path)
    assert (tmp_path / "secret.key").read_bytes() == b""
    (tmp_path / "secret.key").write_bytes(kept)
    with opened(tmp_path):
        pass


@pytest.mark.parametrize("replaced", [False, True])
async def test_restored_database_file_is_used_again(tmp_path: Path, replaced: bool) -> None:
    files = [tmp_path / f"stoker.db{suffix}" for suffix in ("", "-wal", "-shm")]
    with opened(tmp_path) as store:
        await store.store.commit(_created("first"))
        away = tmp_path / "away"
        away.mkdir()
        for file in files:
            file.rename(away / file.name)
        if replaced:
            files[0].touch()
        for _ in range(2):
            with pytest.raises(StoreError, match="was removed or replaced") as fault:
                await store.store.commit(_created("lost"))
            assert fault.value.passing
            with pytest.raises(StoreError, match="was removed or replaced"):
                await store.store.unfinished_stacks()
        for file in files:
            (away / file.name).replace(file)
        await store.store.commit(_created("second"))
    with opened(tmp_path) as store:
        found = await store.store.stacks(None, StackQuery())
        assert sorted(stack.name for stack in found) == ["first", "second"]


def _created(name: str) -> PublicChange:
    stack = stack_in("project", name)
    return PublicChange(stack.id, puts=(stack,))


@pytest.mark.parametrize(("synchronous", "mode"), [(None, 1), (True, 2), (False, 0)])
def test_sqlite_waits_for_the_disk_as_configured(
    tmp_path: Path, synchronous: bool | None, mode: int
) -> None:
    database = open_database(f"sqlite:///{tmp_path}/x.db", synchronous=synchronous)
    with database.connect() as connection:
        assert connection.execute(sa.text("PRAGMA synchronous")).scalar_one() == mode
    database.dispose()
