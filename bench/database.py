"""Databases for measurements: a file of SQLite, or on a server of PostgreSQL."""

from __future__ import annotations

import argparse
import importlib
import uuid
from collections.abc import Iterator
from contextlib import contextmanager

import sqlalchemy as sa

PRIVATE = "postgresql"  # a server that is started for the measurement, and commits as SQLite does
# A power failure may lose the last commits, as with SQLite in this service.
AS_SQLITE = ("fsync=on", "synchronous_commit=off")


def add_option(parser: argparse.ArgumentParser) -> None:
    """Add the option for the database."""
    parser.add_argument(
        "--database",
        metavar="URL",
        help=f'a database on a server, beside which an empty one is made; or "{PRIVATE}": a'
        " server of its own, whose commits wait for the disk no more than SQLite's",
    )


@contextmanager
def empty_database(where: str | None) -> Iterator[str | None]:
    """Yield the URL of an empty database; None for a file of SQLite."""
    if where is None:
        yield None
    elif where == PRIVATE:
        # Import it only here. It imports pytest, whose 7 MiB would count as memory of the engine.
        tests = importlib.import_module("tests.postgresql")
        with tests.server(AS_SQLITE) as running:
            yield running.new()
    else:
        with _beside(sa.make_url(where)) as url:
            yield url


@contextmanager
def _beside(url: sa.URL) -> Iterator[str]:
    name = f"bench_{uuid.uuid4().hex[:12]}"
    engine = sa.create_engine(url, isolation_level="AUTOCOMMIT")
    with engine.connect() as connection:
        connection.exec_driver_sql(f"CREATE DATABASE {name}")
        try:
            yield url.set(database=name).render_as_string(hide_password=False)
        finally:
            connection.exec_driver_sql(f"DROP DATABASE {name} WITH (FORCE)")
    engine.dispose()
