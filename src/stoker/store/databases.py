"""Opens a database and brings its schema up to date."""

from __future__ import annotations

import importlib
from pathlib import Path
from typing import Any

import sqlalchemy as sa

from stoker.store import tables
from stoker.store.foreign import SUPPORTED, UnusableDatabase, require_own, require_supported

REVISION = "0014"
"""The newest revision in ``migrations/versions``."""

_version = sa.Table(
    "alembic_version", sa.MetaData(), sa.Column("version_num", sa.String(32), primary_key=True)
)


def open_database(url: str) -> sa.Engine:
    """An engine for the database at ``url``, with the schema of this release.

    A new database is made whole; an old one is migrated with Alembic.
    """
    parsed = require_supported(url)
    try:
        engine = sa.create_engine(parsed, **_options(url))
    except ModuleNotFoundError as error:
        raise UnusableDatabase(
            f"[database] connection needs the Python module {error.name}, which is not installed;"
            f" supported are {SUPPORTED}"
        ) from None
    if engine.dialect.name == "sqlite":
        sa.event.listen(engine, "connect", _tune_sqlite)
        sa.event.listen(engine, "begin", _begin_sqlite)
    inspector = sa.inspect(engine)
    require_own(set(inspector.get_table_names()), parsed)
    if not inspector.has_table("alembic_version"):
        with engine.begin() as connection:
            tables.metadata.create_all(connection)
            _version.create(connection, checkfirst=True)
            connection.execute(_version.insert(), {"version_num": REVISION})
    else:
        with engine.connect() as connection:
            found = connection.execute(sa.select(_version.c.version_num)).scalar()
        if found is not None and found > REVISION:
            raise UnusableDatabase(
                f"the database {parsed.render_as_string(hide_password=True)} was made by a newer"
                " release of Stoker"
            )
        if found != REVISION:
            _migrate(engine)
    return engine


def _options(url: str) -> dict[str, Any]:
    if sa.make_url(url).get_backend_name() != "sqlite":
        return {"pool_pre_ping": True}
    if sa.make_url(url).database in (None, "", ":memory:"):
        return {
            "poolclass": sa.pool.StaticPool,
            "connect_args": {"check_same_thread": False},
        }
    return {"connect_args": {"check_same_thread": False, "timeout": 30}}


def for_writing(engine: sa.Engine) -> sa.Engine:
    """The engine for transactions that are going to write: what they read stays true."""
    return engine.execution_options(**{_WRITES: True})


_WRITES = "stoker_writes"


def _begin_sqlite(connection: sa.Connection) -> None:
    """Begin for ourselves: the driver would begin with the first write, after what was read."""
    immediate = connection.get_execution_options().get(_WRITES, False)
    connection.exec_driver_sql("BEGIN IMMEDIATE" if immediate else "BEGIN")


def _tune_sqlite(connection: Any, _record: object) -> None:
    connection.isolation_level = None  # see _begin_sqlite
    cursor = connection.cursor()
    # WAL with NORMAL loses nothing when a process dies, only, perhaps, when power does
    cursor.execute("PRAGMA journal_mode=WAL")
    cursor.execute("PRAGMA synchronous=NORMAL")
    cursor.execute("PRAGMA temp_store=MEMORY")
    cursor.execute("PRAGMA cache_size=-65536")
    cursor.close()


def _migrate(engine: sa.Engine) -> None:
    # Alembic is slow to import and needed only when a release changes the schema
    command = importlib.import_module("alembic.command")
    config_module = importlib.import_module("alembic.config")
    config = config_module.Config()
    config.set_main_option("script_location", str(Path(__file__).parent / "migrations"))
    with engine.begin() as connection:
        config.attributes["connection"] = connection
        command.upgrade(config, "head")
