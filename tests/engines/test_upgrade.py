"""Processes of an earlier release and of this one, side by side on one database."""

from __future__ import annotations

import os
import signal
import subprocess
from pathlib import Path

import pytest
import sqlalchemy as sa

from stoker.store.sql.databases import REVISION
from tests.engines.installation import (
    MEMBERS,
    SECONDS,
    TREE,
    check,
    engines,
    further_api,
    further_engine,
    installation,
    networks,
    signal_it,
)
from tests.postgresql import PostgreSQL
from tests.recovery.service import until
from tests.recovery.test_kill import Stack

# The first commit whose engines take turns and that passed all tests. Its schema is revision 0025:
# from the next revision on, this database is migrated beside its engine.
EARLIER = "9a32191cbd65"
THIS = {"PYTHONPATH": ""}


@pytest.fixture
def earlier(tmp_path: Path) -> dict[str, str]:
    """The environment in which a process is of the earlier release."""
    root = Path(__file__).parents[2]
    archive = ["git", "-C", str(root), "archive", EARLIER, "src"]
    try:
        packed = subprocess.run(archive, capture_output=True, check=True).stdout
    except (OSError, subprocess.CalledProcessError):
        pytest.skip(f"the history of the code has no commit {EARLIER}, as in a shallow clone")
    place = tmp_path / "earlier"
    place.mkdir()
    subprocess.run(["tar", "-x", "-C", str(place)], input=packed, check=True)
    return {"PYTHONPATH": str(place / "src")}


def revision(url: str) -> str:
    engine = sa.create_engine(url)
    with engine.connect() as connection:
        found = connection.exec_driver_sql("SELECT version_num FROM alembic_version").scalar_one()
    engine.dispose()
    return str(found)


@pytest.mark.long
def test_earlier_release_shares_work_with_this_one(
    postgresql: PostgreSQL, tmp_path: Path, earlier: dict[str, str]
) -> None:
    url = postgresql.new()
    with installation(tmp_path / "data", url, engines=1, environment=earlier) as service:
        assert revision(url) <= REVISION
        first = Stack(service, "first", TREE, "member.yaml")
        first.create()
        with further_engine(service, THIS):
            assert revision(url) == REVISION
        with further_api(service, THIS) as newer:
            # accepted by this release, ended by the engine of the earlier one
            second = Stack(newer, "second", TREE, "member.yaml")
            second.create()
            signal_it(second)
            until(lambda: second.status() == "CREATE_COMPLETE", "made", SECONDS)
            assert networks(second) == MEMBERS
            [old] = engines(service)
            with further_engine(service, THIS):
                os.kill(old.pid, signal.SIGSTOP)
                # accepted by the earlier release, ended by this one
                check(first)
                second.delete()
                second.await_gone()
                os.kill(old.pid, signal.SIGCONT)
