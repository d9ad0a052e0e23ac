"""The place of a database, and its keys."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from oslo_config.cfg import ConfigOpts


@dataclass(frozen=True, slots=True)
class DatabaseSettings:
    """The place of a database, and its keys."""

    data_dir: Path
    # The URL may contain a password. Without one, the database is a file in the data directory.
    url: str | None = dataclasses.field(default=None, repr=False)
    # The text of the newest key; None if the keys are in a file in the data directory.
    key: str | None = dataclasses.field(default=None, repr=False)
    earlier_keys: tuple[str, ...] = dataclasses.field(default=(), repr=False)
    sqlite_synchronous: bool | None = None


def database_settings(options: ConfigOpts) -> DatabaseSettings:
    """Read the options of the database."""
    return DatabaseSettings(
        data_dir=Path(options.data_dir),
        url=options.database.connection or None,
        key=options.auth_encryption_key,
        earlier_keys=tuple(options.previous_auth_encryption_key or ()),
        sqlite_synchronous=options.database.sqlite_synchronous,
    )
