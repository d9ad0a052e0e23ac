"""Opens a database and brings its schema up to date."""

from __future__ import annotations

import importlib
from functools import partial
from pathlib import Path
from typing import Any

import sqlalchemy as sa

from stoker.store.schema import jobs, tables
from stoker.store.sql import database_file, postgresql
from stoker.store.sql.foreign import UnusableDatabaseError, require_own, require_supported

REVISION = "0028"
"""The newest revision in ``migrations/versions``."""
USABLE_FROM = "0024"
"""The oldest revision whose programs may use today's schema: it has all that they need. A migration
that takes something away, or changes it, has to raise this to its own revision.
"""
SCHEMA_MARK = "usable_from"
"""The name under which a database knows that."""

_IN_MEMORY = (None, "", ":memory:")

_version = sa.Table(
    "alembic_version", sa.MetaData(), sa.Column("version_num", sa.String(32), primary_key=True)
)


def open_database(url: str, *, synchronous: bool | None = None) -> sa.Engine:
    """An engine for the database at ``url``, with the schema of this release.

    A new database is made whole; an old one is migrated with Alembic. ``synchronous`` is for
    SQLite: with True a commit is on the disk when it returns, with False the operating system
    decides when. By default commits are written in order.
    """
    parsed = require_supported(url)
    engine = engine_for(parsed)
    if synchronous is not None and parsed.get_backend_name() == "sqlite":
        mode = "FULL" if synchronous else "OFF"
        sa.event.listen(engine, "connect", partial(_synchronize, mode))
    try:
        with postgresql.telling_where(parsed):
            _require_schema(engine, parsed)
    except Exception:
        engine.dispose()
        raise
    return engine


def _require_schema(engine: sa.Engine, url: sa.URL) -> None:
    with engine.connect() as connection:
        found = _revision(connection, url)
    if found != REVISION:
        with for_writing(engine).begin() as connection:
            postgresql.let_rest(connection)  # migrations convert rows between two statements
            postgresql.lock(connection, postgresql.Lock.SCHEMA)
            _bring_up_to_date(connection, _revision(connection, url))


def engine_for(url: sa.URL) -> sa.Engine:
    """An engine for a database, whatever is in it. Raises UnusableDatabaseError without its
    driver.
    """
    is_file = url.get_backend_name() == "sqlite"
    try:
        engine = sa.create_engine(url, **(_options(url) if is_file else postgresql.options(url)))
    except ModuleNotFoundError as error:
        raise UnusableDatabaseError(
            f"[database] connection needs the Python module {error.name}, which is not installed:"
            ' install stoker with its extra "postgresql"'
        ) from None
    if is_file:
        sa.event.listen(engine, "connect", _tune_sqlite)
        if url.database not in _IN_MEMORY:
            database_file.watch(engine, Path(str(url.database)))
        sa.event.listen(engine, "begin", _begin_sqlite)
    else:
        postgresql.prepare(engine)
    return engine


def _revision(connection: sa.Connection, url: sa.URL) -> str | None:
    """The revision of a schema; None for an empty database. Raises UnusableDatabaseError."""
    inspector = sa.inspect(connection)
    postgresql.require_able(connection, url)
    require_own(set(inspector.get_table_names()), url)
    if not inspector.has_table("alembic_version"):
        return None
    found: str | None = connection.execute(sa.select(_version.c.version_num)).scalar()
    if found is not None and found > REVISION:
        _require_usable(connection, url)
        return REVISION
    return found or "none"


def _require_usable(connection: sa.Connection, url: sa.URL) -> None:
    """Refuse a newer schema that lacks something: during an upgrade it may only have more."""
    marks = tables.marks
    select = sa.select(marks.c.value).where(marks.c.name == SCHEMA_MARK)
    usable_from = connection.execute(select).scalar()
    if usable_from is None or usable_from > REVISION:
        raise UnusableDatabaseError(
            f"the database {url.render_as_string(hide_password=True)} was made by a newer"
            " release of Stoker, which this one cannot share it with; install that release"
        )


def _note_usable(connection: sa.Connection) -> None:
    """Note which programs may use the schema."""
    marks = tables.marks
    connection.execute(marks.delete().where(marks.c.name == SCHEMA_MARK))
    connection.execute(marks.insert(), {"name": SCHEMA_MARK, "value": USABLE_FROM})


def _bring_up_to_date(connection: sa.Connection, revision: str | None) -> None:
    """Make the tables, or migrate those of an earlier revision."""
    if revision is None:
        tables.metadata.create_all(connection)
        jobs.make_tables(connection)
        jobs.drop_triggers(connection)
        jobs.drop_index(connection)
        _version.create(connection)
        connection.execute(_version.insert(), {"version_num": REVISION})
        _note_usable(connection)
    elif revision != REVISION:
        _migrate(connection)
        _note_usable(connection)


def _options(url: sa.URL) -> dict[str, Any]:
    if url.database in _IN_MEMORY:
        return {
            "poolclass": sa.pool.StaticPool,
            "connect_args": {"check_same_thread": False},
        }
    return {"connect_args": {"check_same_thread": False, "timeout": 30}}


def for_writing(engine: sa.Engine) -> sa.Engine:
    """Return the engine for transactions that write: their reads stay valid until the commit."""
    return engine.execution_options(**{_WRITES: True})


def for_reading(engine: sa.Engine) -> sa.Engine:
    """The engine for single statements that read: a server needs no transaction around each."""
    if engine.dialect.name == "sqlite":
        return engine  # it starts a transaction in any case
    return engine.execution_options(isolation_level="AUTOCOMMIT")


def of_one_moment(engine: sa.Engine) -> sa.Engine:
    """The engine for transactions that only read: all that each reads is of one moment."""
    if engine.dialect.name == "sqlite":
        return engine  # it always is
    return engine.execution_options(isolation_level="REPEATABLE READ")


_WRITES = "stoker_writes"


def _begin_sqlite(connection: sa.Connection) -> None:
    """Start the transaction: the driver would start it only with the first write, after reads."""
    immediate = connection.get_execution_options().get(_WRITES, False)
    connection.exec_driver_sql("BEGIN IMMEDIATE" if immediate else "BEGIN")


def _tune_sqlite(connection: Any, _record: object) -> None:
    connection.isolation_level = None  # see _begin_sqlite
    cursor = connection.cursor()
    # WAL with NORMAL loses nothing when a process dies, only, perhaps, when power does
    cursor.execute("PRAGMA journal_mode=WAL")
    cursor.execute("PRAGMA synchronous=NORMAL")
    # pages that change again before they are copied back are copied once: 16 MiB, not 4
    cursor.execute("PRAGMA wal_autocheckpoint=4000")
    cursor.execute("PRAGMA temp_store=MEMORY")
    cursor.execute("PRAGMA cache_size=-65536")
    cursor.close()


def _synchronize(mode: str, connection: Any, _record: object) -> None:
    cursor = connection.cursor()
    cursor.execute(f"PRAGMA synchronous={mode}")
    cursor.close()


def _migrate(connection: sa.Connection) -> None:
    # Alembic is slow to import and needed only when a release changes the schema
    command = importlib.import_module("alembic.command")
    config_module = importlib.import_module("alembic.config")
    config = config_module.Config()
    config.set_main_option("script_location", str(Path(__file__).parents[1] / "migrations"))
    config.attributes["connection"] = connection
    command.upgrade(config, "head")
