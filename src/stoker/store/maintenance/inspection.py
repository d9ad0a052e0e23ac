"""Inspects a database without opening it for the service: its revision, its health, a copy."""

from __future__ import annotations

import contextlib
import sqlite3
from pathlib import Path

import sqlalchemy as sa

from stoker.store.sql.databases import REVISION, engine_for
from stoker.store.sql.foreign import UnusableDatabaseError, require_supported
from stoker.store.sql.postgresql import telling_where


class Inspection:
    """A database, which is only read."""

    def __init__(self, url: str | None, data_dir: Path) -> None:
        self.url = require_supported(url or f"sqlite:///{data_dir / 'stoker.db'}")
        if self._file is not None and not self._file.is_file():
            raise UnusableDatabaseError(f"there is no database {self._file}")

    @property
    def _file(self) -> Path | None:
        is_file = self.url.get_backend_name() == "sqlite" and self.url.database
        return Path(str(self.url.database)) if is_file else None

    def revision(self) -> str | None:
        """Return the revision of its schema; None for an empty database."""
        engine = sa.create_engine(self.url) if self._file else engine_for(self.url)
        try:
            with telling_where(self.url), engine.connect() as connection:
                if not sa.inspect(connection).has_table("alembic_version"):
                    return None
                found = connection.execute(sa.text("SELECT version_num FROM alembic_version"))
                return str(found.scalar())
        finally:
            engine.dispose()

    def faults(self) -> list[str]:
        """Return its faults as sentences."""
        revision = self.revision()
        lines = []
        if revision is None:
            lines.append("it is empty; the service fills it when it starts")
        elif revision != REVISION:
            advice = 'run "stoker db upgrade"' if revision < REVISION else "install that release"
            lines.append(f"its schema is that of revision {revision}, not {REVISION}: {advice}")
        if self._file is not None:
            with contextlib.closing(_read_only(self._file)) as connection:
                rows = connection.execute("PRAGMA integrity_check(20)").fetchall()
            lines += [f"SQLite says: {text}" for (text,) in rows if text != "ok"]
        return lines

    def back_up(self, target: Path) -> None:
        """Copy the file of a database completely while it is in use.

        Raises UnusableDatabaseError.
        """
        if self._file is None:
            raise UnusableDatabaseError("it is not a file; back it up with pg_dump")
        if target.exists():
            raise UnusableDatabaseError(f"{target} exists; name a file that does not")
        partial = target.with_name(f"{target.name}.partial")
        partial.unlink(missing_ok=True)
        partial.touch(mode=0o600)
        with (
            contextlib.closing(_read_only(self._file)) as source,
            contextlib.closing(sqlite3.connect(partial)) as copy,
        ):
            source.backup(copy)
        partial.rename(target)


def _read_only(file: Path) -> sqlite3.Connection:
    return sqlite3.connect(f"{file.resolve().as_uri()}?mode=ro", uri=True)
