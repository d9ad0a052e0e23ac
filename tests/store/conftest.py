"""Databases that the contract of the store is held against."""

from __future__ import annotations

import importlib.util
import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

BINARIES = sorted(Path("/usr/lib/postgresql").glob("*/bin"))


def _server() -> Iterator[str]:
    """A PostgreSQL of its own, on a socket in a directory of its own."""
    given = os.environ.get("STOKER_TEST_POSTGRESQL")
    if given:
        yield given
        return
    if importlib.util.find_spec("psycopg") is None:
        pytest.skip("psycopg is not installed")
    if not BINARIES:
        pytest.skip("PostgreSQL is not installed, and STOKER_TEST_POSTGRESQL names none")
    place = Path(tempfile.mkdtemp(prefix="stoker-postgresql-"))
    person: list[str] = []
    if os.geteuid() == 0:  # it refuses to run as root
        shutil.chown(place, "postgres", "postgres")
        person = ["setpriv", "--reuid=postgres", "--regid=postgres", "--clear-groups"]
    control = [*person, str(BINARIES[-1] / "pg_ctl"), "-D", str(place / "data"), "-w"]
    initial = ["-o", "-A trust -U stoker -E UTF8 --no-sync"]
    options = f"-c listen_addresses= -c fsync=off -k {place}"
    quiet = {"stdout": subprocess.DEVNULL, "check": True, "cwd": place}
    subprocess.run([*control, "init", *initial], **quiet)
    start = [*control, "-o", options, "-l", str(place / "log"), "start"]
    subprocess.run(start, **quiet)
    try:
        yield f"postgresql+psycopg://stoker@/postgres?host={place}"
    finally:
        subprocess.run([*control, "-m", "immediate", "stop"], **quiet)
        shutil.rmtree(place)


@pytest.fixture(scope="session", params=["sqlite", "postgresql"])
def database_url(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[str]:
    """The URL of a database of each kind."""
    if request.param == "sqlite":
        yield f"sqlite:///{tmp_path_factory.mktemp('sqlite') / 'stoker.db'}"
    else:
        yield from _server()
