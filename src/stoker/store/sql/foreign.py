"""Rejects databases of other programs, and those of another key.

A ``heat.conf`` names Heat's own database. Its tables are checked first, and nothing is written to a
database that does not belong to this service.
"""

from __future__ import annotations

import contextlib
import sqlite3
from pathlib import Path
from typing import Any

import sqlalchemy as sa
from cryptography.exceptions import InvalidTag
from cryptography.fernet import InvalidToken

from stoker.store.schema import tables
from stoker.store.sql.encryption import Cipher

SUPPORTED = (
    "SQLite (leave [database] connection empty for a file in the data directory) and PostgreSQL"
    " (postgresql+psycopg://USER:PASSWORD@HOST/DATABASE)"
)
_DRIVERS = ("sqlite", "sqlite+pysqlite", "postgresql+psycopg")
_OURS = frozenset({"contents", "inputs", "stacks"})
_NO_TABLES = frozenset({"alembic_version", "sqlite_sequence", "sqlite_stat1"})
_CHECK = "key_check"


class UnusableDatabaseError(ValueError):
    """The database cannot be used. The text has the reason and a remedy, in one line."""


def require_supported(url: str) -> sa.URL:
    """Return the URL of a database that this service can use; reject others, and files of Heat."""
    try:
        parsed = sa.make_url(url)
    except sa.exc.ArgumentError:
        raise UnusableDatabaseError(
            f"[database] connection is not the URL of a database; supported are {SUPPORTED}"
        ) from None
    backend = parsed.get_backend_name()
    if parsed.drivername == "postgresql":
        parsed = parsed.set(drivername="postgresql+psycopg")
    if parsed.drivername not in _DRIVERS:
        named = parsed.drivername if backend in ("sqlite", "postgresql") else backend
        raise UnusableDatabaseError(
            f"[database] connection names a {named} database, as Heat's may be;"
            f" supported are {SUPPORTED}. Stoker keeps a database of its own and never uses Heat's"
        )
    if backend == "sqlite" and parsed.database and Path(parsed.database).is_file():
        require_own(_tables_of_file(Path(parsed.database)), parsed)
    return parsed


def require_own(found: set[str], url: sa.URL) -> None:
    """Reject a database whose tables belong to another program."""
    others = found - _NO_TABLES
    if others and not others >= _OURS:
        some = ", ".join(sorted(others)[:3])
        raise UnusableDatabaseError(
            f"the database {url.render_as_string(hide_password=True)} belongs to another program"
            f" (it has the tables {some}); name an empty one in [database] connection, or leave it"
            " empty"
        )


def _tables_of_file(path: Path) -> set[str]:
    """Return the tables in a database file, without changing the file."""
    try:
        # A process that was killed during a checkpoint leaves a file that is whole only together
        # with its log. Without a log, an immutable connection adds no files beside the database.
        if Path(f"{path.resolve()}-wal").exists():
            return _table_names(path, "mode=ro")
        return _table_names(path, "mode=ro&immutable=1")
    except sqlite3.Error as error:
        raise UnusableDatabaseError(
            f"{path} cannot be read as an SQLite database: {error}"
        ) from None


def _table_names(path: Path, options: str) -> set[str]:
    address = f"{path.resolve().as_uri()}?{options}"
    with contextlib.closing(sqlite3.connect(address, uri=True)) as connection:
        rows = connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")
        return {str(name) for (name,) in rows}


def has_check(engine: sa.Engine) -> bool:
    """Return whether the database records the key that it is encrypted with."""
    return _value(engine) is not None


def require_key(engine: sa.Engine, cipher: Cipher, where: str) -> None:
    """Reject a key other than that of the database; record that of a new database.

    ``where`` names the source of the key in the message.
    """
    encrypted = _value(engine) or _sample(engine)
    if encrypted is not None:
        try:
            cipher.decrypt(encrypted)
        except (InvalidTag, InvalidToken, ValueError):
            raise UnusableDatabaseError(
                f"{where} is not the key that the database is encrypted with; bring the old key"
                " back, or start with an empty database"
            ) from None
    if has_check(engine):
        return
    try:
        with engine.begin() as connection:
            connection.execute(tables.marks.insert(), _check_of(cipher))
    except sa.exc.IntegrityError:  # Another process was first, with this key or another.
        require_key(engine, cipher, where)


def note_key(connection: sa.Connection, cipher: Cipher) -> None:
    """Record that the stored texts are encrypted with the newest key of a cipher."""
    connection.execute(tables.marks.delete().where(tables.marks.c.name == _CHECK))
    connection.execute(tables.marks.insert(), _check_of(cipher))


def _check_of(cipher: Cipher) -> dict[str, str]:
    return {"name": _CHECK, "value": cipher.encrypt({"key": "right"})}


def _value(engine: sa.Engine) -> str | None:
    select = sa.select(tables.marks.c.value).where(tables.marks.c.name == _CHECK)
    with engine.connect() as connection:
        return _text(connection.execute(select).scalar())


def _sample(engine: sa.Engine) -> str | None:
    """Return a text that a release without this check has encrypted, or None."""
    select = sa.select(tables.contents.c.body).limit(1)
    with engine.connect() as connection:
        return _text(connection.execute(select).scalar())


def _text(value: Any) -> str | None:
    return None if value is None else str(value)
