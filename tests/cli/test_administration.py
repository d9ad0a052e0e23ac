"""Maintenance of a database beside the service, by operators and their scripts."""

from __future__ import annotations

import asyncio
import json
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from stoker.admin.database import RESET
from stoker.cli import administered, heat_manage
from stoker.cli.main import main
from stoker.config.files import NO_FILES, ConfigFiles
from stoker.engine.model.interfaces import PublicChange
from stoker.engine.model.kinds import ChangeRequest
from stoker.engine.model.records import Action, Input, Operation, Stack, Status
from stoker.store.opening import OpenStore
from stoker.store.sql.databases import REVISION
from stoker.store.sql.keys import keys_in


def stack(number: int, project: str = "p", deleted_at: float | None = None) -> PublicChange:
    """A stack whose create waits, or one that was deleted."""
    made = Stack(
        id=f"s{number}",
        project_id=project,
        name=f"app{number}",
        action=Action.CREATE,
        status=Status.COMPLETE if deleted_at else Status.IN_PROGRESS,
        reason="",
        created_at=1.0,
        input_id=f"i{number}",
        deleted_at=deleted_at,
        user_id="u",
        user_name="demo",
    )
    recorded = Input(
        id=f"i{number}",
        stack_id=made.id,
        template={"secret": "geheim"},
        parameters={"password": "geheim"},
        environment={},
        files={},
    )
    waiting = Operation(
        id=f"o{number}",
        stack_id=made.id,
        action=Action.CREATE,
        created_at=1.0,
        request=ChangeRequest(),
        input_id=recorded.id,
    )
    operations = () if deleted_at else (waiting,)
    return PublicChange(made.id, puts=(made, recorded, *operations))


@pytest.fixture
def data_dir(tmp_path: Path) -> Path:
    """A database with stacks that live, and that were deleted long ago."""
    opened = OpenStore(None, tmp_path / "data")

    async def fill() -> None:
        for change in (stack(1), stack(2, "p", 10.0), stack(3, "q", 10.0)):
            await opened.store.commit(change)

    asyncio.run(fill())
    opened.close()
    return tmp_path / "data"


@pytest.fixture
def heat_conf(data_dir: Path, tmp_path: Path) -> Path:
    file = tmp_path / "heat.conf"
    file.write_text(f"[DEFAULT]\ndata_dir = {data_dir}\n")
    return file


def stoker(data_dir: Path, *arguments: str) -> Result:
    return CliRunner().invoke(main, [*arguments, "--data-dir", str(data_dir)])


def heat(file: Path, *arguments: str, input: str | None = None) -> Result:  # noqa: A002
    return CliRunner().invoke(
        heat_manage.main, ["--config-file", str(file), *arguments], input=input
    )


def names(data_dir: Path) -> set[str]:
    with closing(sqlite3.connect(data_dir / "stoker.db")) as connection:
        return {name for (name,) in connection.execute("SELECT name FROM stacks")}


def test_a_database_is_checked_and_upgraded(data_dir: Path, tmp_path: Path) -> None:
    assert f"revision {REVISION}" in stoker(data_dir, "db", "check").output
    with closing(sqlite3.connect(data_dir / "stoker.db")) as connection:
        connection.execute("UPDATE alembic_version SET version_num = '9999'")
        connection.execute("DELETE FROM marks")  # it does not say that others may use it
        connection.commit()
    refused = stoker(data_dir, "db", "check")
    assert refused.exit_code == 1
    assert "9999" in refused.output
    assert stoker(data_dir, "db", "upgrade").exit_code == 1
    assert "there is no database" in stoker(tmp_path / "other", "db", "check").output
    assert stoker(tmp_path / "other", "db", "upgrade").output == (
        f"The database has revision {REVISION}.\n"
    )


def test_database_check_and_keys_print_json(data_dir: Path) -> None:
    checked = json.loads(stoker(data_dir, "db", "check", "--json").stdout)
    assert checked == {"revision": REVISION, "faults": []}
    newest = json.loads(stoker(data_dir, "db", "keys", "--json").stdout)["newest"]
    stoker(data_dir, "db", "rotate-key")
    rotated = stoker(data_dir, "db", "keys", "--json")
    assert (rotated.exit_code, json.loads(rotated.stdout)["needed"]) == (1, [newest])


def test_a_backup_is_a_database_without_the_key(data_dir: Path, tmp_path: Path) -> None:
    copy = tmp_path / "backup/stoker.db"
    copy.parent.mkdir()
    assert stoker(data_dir, "db", "backup", str(copy)).exit_code == 0
    assert copy.stat().st_mode & 0o777 == 0o600
    assert names(copy.parent) == {"app1", "app2", "app3"}
    assert b"geheim" not in copy.read_bytes()
    again = stoker(data_dir, "db", "backup", str(copy))
    assert (again.exit_code, "exists" in again.output) == (1, True)


def test_deleted_stacks_are_purged_by_age_and_project(data_dir: Path) -> None:
    assert "Purged 0 " in stoker(data_dir, "db", "purge", "--older-than", "999999").output
    assert "Purged 1 " in stoker(data_dir, "db", "purge", "--project", "q").output
    assert names(data_dir) == {"app1", "app2"}
    assert "Purged 1 " in stoker(data_dir, "db", "purge", "--history", "0").output
    assert names(data_dir) == {"app1"}


def test_key_is_rotated_and_unused_ones_are_removed(data_dir: Path) -> None:
    assert "Earlier keys may go" in stoker(data_dir, "db", "keys").output
    assert stoker(data_dir, "db", "rotate-key").exit_code == 0
    assert len(keys_in(data_dir)) == 2
    needed = stoker(data_dir, "db", "keys")
    assert (needed.exit_code, "still needed" in needed.output) == (1, True)
    early = stoker(data_dir, "db", "forget-keys", "--yes")
    assert (early.exit_code, "--finish" in early.output) == (1, True)
    assert stoker(data_dir, "db", "rotate-key", "--finish").exit_code == 0
    assert stoker(data_dir, "db", "keys").exit_code == 0
    assert stoker(data_dir, "db", "forget-keys", "--yes").output == "Removed 2 earlier keys.\n"
    opened = OpenStore(None, data_dir)
    found = asyncio.run(opened.store.input("i1"))
    opened.close()
    assert found.parameters == {"password": "geheim"}


def test_scripts_purge_as_with_heat(heat_conf: Path, data_dir: Path) -> None:
    purge = heat(heat_conf, "purge_deleted", "-g", "hours", "-p", "q", "2")
    assert (purge.exit_code, purge.output) == (0, "Purged 1 deleted stacks.\n")
    assert heat(heat_conf, "purge_deleted").exit_code == 0
    assert names(data_dir) == {"app1"}
    assert heat(heat_conf, "purge_deleted", "--", "-1").exit_code == 1
    assert heat(heat_conf, "purge_deleted", "-g", "weeks", "1").exit_code == 2


def test_reset_sets_stack_in_progress_to_failed(heat_conf: Path, data_dir: Path) -> None:
    assert heat(heat_conf, "reset_stack_status", "s1", input="n\n").exit_code == 0
    assert heat(heat_conf, "reset_stack_status", "nosuch", input="y\n").exit_code == 1
    assert "1 stacks set" in heat(heat_conf, "reset_stack_status", "s1", input="y\n").output
    opened = OpenStore(None, data_dir)
    found = asyncio.run(opened.store.stack("s1"))
    opened.close()
    assert found is not None
    assert (found.status, found.reason) == (Status.FAILED, RESET)
    assert "Nothing is" in heat(heat_conf, "reset_stack_status", "s1", input="y\n").output


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        (["db_version"], 0, REVISION),
        (["db_sync"], 0, ""),
        (["service", "list"], 0, "Hostname"),
        (["service", "clean"], 0, "Dead engines are removed."),
        (["update_params", "encrypt"], 0, "always encrypted"),
        (["update_params", "decrypt"], 1, "cannot be decrypted"),
        (["update_params", "nonsense"], 2, "nonsense"),
        (["migrate_properties_data"], 0, "Nothing to migrate"),
        (["migrate_convergence_1", "s1"], 0, "Nothing to migrate"),
        (["resource_data_list", "nosuch"], 1, "there is no resource nosuch"),
        (["--version"], 0, "0.1.0"),
        (["nosuch"], 2, "nosuch"),
        (["-h"], 0, "purge_deleted"),
    ],
)
def test_every_subcommand_ends_as_scripts_expect(
    heat_conf: Path, arguments: list[str], code: int, said: str
) -> None:
    done = heat(heat_conf, *arguments)
    assert done.exit_code == code
    assert said in done.output


def test_heats_own_database_is_refused_in_a_sentence(tmp_path: Path) -> None:
    file = tmp_path / "heat.conf"
    file.write_text("[database]\nconnection = mysql+pymysql://heat:geheim@controller/heat\n")
    for arguments in (["db_sync"], ["db_version"], ["purge_deleted"]):
        done = heat(file, *arguments)
        assert done.exit_code == 1
        assert "names a mysql database" in done.output
        assert "geheim" not in done.output


def test_machine_configuration_is_read_without_data_directory(
    tmp_path: Path, data_dir: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "nothing"))
    monkeypatch.delenv("STOKER_DATA_DIR", raising=False)
    file = tmp_path / "stoker.conf"
    file.write_text(f"[DEFAULT]\ndata_dir = {data_dir}\n")
    purge = ["db", "purge", "--project", "q", "--older-than", "0"]
    found = ConfigFiles((file,))
    for files, code, said in ((NO_FILES, 1, "there is no service in"), (found, 0, "Purged 1 ")):
        monkeypatch.setattr(administered, "usual_files", lambda files=files: files)
        done = CliRunner().invoke(main, purge)
        assert done.exit_code == code
        assert said in done.output
    assert not (tmp_path / "nothing").exists()
