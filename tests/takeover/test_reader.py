"""Heat's database is read in one moment, in batches, and never written."""

from __future__ import annotations

import shutil
import sqlite3
from pathlib import Path
from urllib.parse import quote

import pytest
import sqlalchemy as sa

from stoker.takeover.errors import TakeoverError, UnknownSchemaError
from stoker.takeover.heat import trees
from stoker.takeover.heat.database import heat_database
from stoker.takeover.heat.trees import Selection, batches
from tests.takeover.estate import PROJECT, Estate


def roots_of(estate: Estate, **selection: object) -> list[str]:
    """The names of the root stacks that a selection has."""
    with heat_database(estate.url) as heat:
        found = batches(heat, Selection(**selection))  # type: ignore[arg-type]
        return sorted(tree.root["name"] for batch in found for tree in batch.trees)


def test_batches_have_every_live_tree(estate: Estate) -> None:
    names = ["cfn", "cfn", "fails", "flasky", "groups", "plain", "secret", "soft"]
    assert roots_of(estate) == names
    assert roots_of(estate, projects=(PROJECT,)) == names
    assert roots_of(estate, projects=("another",)) == []


def test_deleted_stacks_are_read_on_request(estate: Estate) -> None:
    assert roots_of(estate, with_deleted=True).count("flasky") == 2


def test_small_batches_have_the_same_trees(estate: Estate, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(trees, "_RESOURCES", 5)
    monkeypatch.setattr(trees, "_ROOTS", 3)
    with heat_database(estate.url) as heat:
        found = list(batches(heat, Selection()))
    assert len(found) > 4
    assert sum(len(batch.trees) for batch in found) == 8
    assert sum(map(len, (rows for b in found for rows in b.resources.values()))) == 60


def test_reader_cannot_write(estate: Estate) -> None:
    with (
        pytest.raises(TakeoverError, match="readonly"),
        heat_database(estate.url) as heat,
    ):
        heat.all(sa.text("DELETE FROM stack"))  # type: ignore[arg-type]


def test_reader_sees_one_moment(estate: Estate) -> None:
    with sqlite3.connect(estate.file) as connection:
        connection.execute("PRAGMA journal_mode = WAL")
    with heat_database(estate.url) as heat:
        before = heat.count("stack")
        estate.change("DELETE FROM stack WHERE name = 'plain'")
        assert heat.count("stack") == before


def test_unknown_column_is_rejected(estate: Estate) -> None:
    estate.change("ALTER TABLE resource ADD COLUMN colour TEXT")
    with (
        pytest.raises(UnknownSchemaError, match="table resource has a column colour"),
        heat_database(estate.url),
    ):
        pass


def test_unknown_table_is_rejected(estate: Estate) -> None:
    estate.change("CREATE TABLE novelty (id INTEGER)")
    with (
        pytest.raises(UnknownSchemaError, match="a table novelty"),
        heat_database(estate.url),
    ):
        pass


def test_missing_column_is_rejected(estate: Estate) -> None:
    estate.change("ALTER TABLE user_creds DROP COLUMN trust_id")
    with (
        pytest.raises(UnknownSchemaError, match="table user_creds has no column trust_id"),
        heat_database(estate.url),
    ):
        pass


def test_schema_of_an_older_release_is_accepted(estate: Estate) -> None:
    """Stein has neither the snapshots of resources in a table, nor some of the columns."""
    estate.change("DROP TABLE resource_snapshot")
    estate.change("DROP TABLE alembic_version")
    estate.change("ALTER TABLE snapshot DROP COLUMN action")
    estate.change("ALTER TABLE sync_point DROP COLUMN extra_data")
    estate.change(
        "CREATE TABLE migrate_version (repository_id TEXT, repository_path TEXT, version INTEGER)"
    )
    assert estate.transfer().written == 8


@pytest.mark.parametrize(
    ("url", "reason"),
    [
        ("nonsense", "is not the URL of a database"),
        ("oracle://heat@db/heat", "names a oracle database"),
        ("mysql+pymysql://heat:x@127.0.0.1:9/heat", "cannot be read"),
        ("postgresql://heat:x@127.0.0.1:9/heat", "cannot be read"),
    ],
)
def test_unusable_url_is_reported(url: str, reason: str) -> None:
    with pytest.raises(TakeoverError, match=reason), heat_database(url):
        pass


def test_path_with_special_characters_is_read(estate: Estate, tmp_path: Path) -> None:
    file = tmp_path / "100%" / "a#b" / "heat.db"
    file.parent.mkdir(parents=True)
    shutil.copy(estate.file, file)
    with (
        heat_database(estate.url) as expected,
        heat_database(f"sqlite:///{quote(str(file))}") as heat,
    ):
        assert heat.count("stack") == expected.count("stack")


def test_missing_file_is_not_created(tmp_path: Path) -> None:
    file = tmp_path / "none.db"
    with pytest.raises(TakeoverError, match="cannot be read"), heat_database(f"sqlite:///{file}"):
        pass
    assert not file.exists()
