"""Opens a database and brings its schema up to date."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any

import sqlalchemy as sa

from stoker.kernel.extras import install_command
from stoker.kernel.lazy import LazyModule
from stoker.store.schema import jobs, tables
from stoker.store.sql import database_file, postgresql
from stoker.store.sql.foreign import UnusableDatabaseError, require_own, require_supported

# Alembic is slow to import, and needed only when a release changes the schema.
alembic_command = LazyModule("alembic.command")
alembic_config = LazyModule("alembic.config")

REVISION = "0033"  # the newest revision in migrations/versions
# The oldest revision whose programs can use the present schema. A migration that removes or changes
# something they need must raise this to its own revision.
USABLE_FROM = "0024"
SCHEMA_MARK = "usable_from"  # key of `USABLE_FROM` in the table of marks

_IN_MEMORY = (None, "", ":memory:")

_version = sa.Table(
    "alembic_version", sa.MetaData(), sa.Column("version_num", sa.String(32), primary_key=True)
)


def open_database(url: str, *, synchronous: bool | None = None) -> sa.Engine:
    """Return an engine for the database at ``url``, with the schema of this release.

    A new database gets all tables; an old one is migrated with Alembic. ``synchronous`` is for
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
            postgresql.let_rest(connection)  # a migration converts rows between two statements
            # Several processes may start together. One of them migrates, and the others wait here.
            postgresql.lock(connection, postgresql.Lock.SCHEMA)
            _bring_up_to_date(connection, _revision(connection, url))


def engine_for(url: sa.URL) -> sa.Engine:
    """Return an engine for a database with any schema.

    Raises UnusableDatabaseError if its driver is not installed.
    """
    is_file = url.get_backend_name() == "sqlite"
    try:
        engine = sa.create_engine(url, **(_options(url) if is_file else postgresql.options(url)))
    except ModuleNotFoundError as error:
        raise UnusableDatabaseError(
            f"[database] connection needs the Python module {error.name}, which is not installed;"
            f" {install_command('postgresql')} adds it"
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
    """Return the revision of a schema; None for an empty database.

    Raises UnusableDatabaseError.
    """
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
    """Reject a newer schema that this release cannot use.

    During an upgrade, the schema may only have additions.
    """
    marks = tables.marks
    select = sa.select(marks.c.value).where(marks.c.name == SCHEMA_MARK)
    usable_from = connection.execute(select).scalar()
    if usable_from is None or usable_from > REVISION:
        raise UnusableDatabaseError(
            f"the database {url.render_as_string(hide_password=True)} was made by a newer"
            " release of Stoker, which this one cannot share it with; install that release"
        )


def _note_usable(connection: sa.Connection) -> None:
    """Record the oldest revision whose programs can use the schema."""
    marks = tables.marks
    connection.execute(marks.delete().where(marks.c.name == SCHEMA_MARK))
    connection.execute(marks.insert(), {"name": SCHEMA_MARK, "value": USABLE_FROM})


def _bring_up_to_date(connection: sa.Connection, revision: str | None) -> None:
    """Create the tables, or migrate those of an earlier revision."""
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
    """Return the engine for single reading statements: a server needs no transaction for one."""
    if engine.dialect.name == "sqlite":
        return engine  # it starts a transaction in any case
    return engine.execution_options(isolation_level="AUTOCOMMIT")


def of_one_moment(engine: sa.Engine) -> sa.Engine:
    """Return the engine for reading transactions: all reads of one see the same snapshot."""
    if engine.dialect.name == "sqlite":
        return engine  # its transactions always do
    return engine.execution_options(isolation_level="REPEATABLE READ")


_WRITES = "stoker_writes"


def _begin_sqlite(connection: sa.Connection) -> None:
    """Start the transaction: the driver would start it only with the first write, after reads."""
    immediate = connection.get_execution_options().get(_WRITES, False)
    connection.exec_driver_sql("BEGIN IMMEDIATE" if immediate else "BEGIN")


def _tune_sqlite(connection: Any, _record: object) -> None:
    connection.isolation_level = None  # `_begin_sqlite` starts transactions
    cursor = connection.cursor()
    # WAL with NORMAL loses no commit when a process dies. A power failure may lose the last ones.
    cursor.execute("PRAGMA journal_mode=WAL")
    cursor.execute("PRAGMA synchronous=NORMAL")
    # Copy back after 16 MiB instead of 4. Pages that change several times are copied once.
    cursor.execute("PRAGMA wal_autocheckpoint=4000")
    cursor.execute("PRAGMA temp_store=MEMORY")
    cursor.execute("PRAGMA cache_size=-65536")
    cursor.close()


def _synchronize(mode: str, connection: Any, _record: object) -> None:
    cursor = connection.cursor()
    cursor.execute(f"PRAGMA synchronous={mode}")
    cursor.close()


def _migrate(connection: sa.Connection) -> None:
    config = alembic_config.Config()
    config.set_main_option("script_location", str(Path(__file__).parents[1] / "migrations"))
    config.attributes["connection"] = connection
    alembic_command.upgrade(config, "head")
