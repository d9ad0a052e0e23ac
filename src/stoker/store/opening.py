"""A store, opened from options and closed again."""

from __future__ import annotations

from pathlib import Path

from stoker.store.databases import open_database
from stoker.store.keys import key_from_passphrase, key_in
from stoker.store.runners import ThreadRunner
from stoker.store.sealing import FernetSeal
from stoker.store.store import SqlStore
from stoker.store.trusts import SqlTrusts


class OpenStore:
    """The store of one process. Without a URL it is a file in the data directory."""

    def __init__(self, url: str | None, data_dir: Path, passphrase: str | None) -> None:
        data_dir.mkdir(parents=True, exist_ok=True)
        key = key_from_passphrase(passphrase) if passphrase else key_in(data_dir)
        self._runner = ThreadRunner()
        self._database = open_database(url or _file_in(data_dir))
        self.store = SqlStore(self._database, FernetSeal(key), self._runner)
        self.trusts = SqlTrusts(self._database, self._runner)

    def close(self) -> None:
        """Let running transactions end and close the database."""
        self._runner.close()
        self._database.dispose()


def _file_in(data_dir: Path) -> str:
    """The URL of the database file, which its owner alone may read: not all of it is encrypted."""
    file = data_dir / "stoker.db"
    file.touch(mode=0o600)
    return f"sqlite:///{file}"
