"""A store, opened from options and closed again."""

from __future__ import annotations

from pathlib import Path

from stoker.store.databases import open_database
from stoker.store.encryption import ColumnCipher
from stoker.store.foreign import UnusableDatabase, has_check, require_key
from stoker.store.keys import key_file, key_from_passphrase, key_in
from stoker.store.runners import ThreadRunner
from stoker.store.store import SqlStore
from stoker.store.trusts import SqlTrusts


class OpenStore:
    """The store of one process. Without a URL it is a file in the data directory."""

    def __init__(self, url: str | None, data_dir: Path, passphrase: str | None) -> None:
        data_dir.mkdir(mode=0o700, parents=True, exist_ok=True)
        self._database = open_database(url or _file_in(data_dir))
        cipher = ColumnCipher(self._key(data_dir, passphrase))
        place = "auth_encryption_key" if passphrase else str(key_file(data_dir))
        require_key(self._database, cipher, place)
        self._runner = ThreadRunner()
        self.store = SqlStore(self._database, cipher, self._runner)
        self.trusts = SqlTrusts(self._database, self._runner)

    def _key(self, data_dir: Path, passphrase: str | None) -> bytes:
        if passphrase:
            return key_from_passphrase(passphrase)
        if has_check(self._database) and not key_file(data_dir).exists():
            raise UnusableDatabase(
                f"{key_file(data_dir)} is missing, and the database is encrypted with it: bring it"
                " back (or set auth_encryption_key, if the database was made with it), or begin"
                " with an empty data directory"
            )
        return key_in(data_dir)

    def close(self) -> None:
        """Let running transactions end and close the database."""
        self._runner.close()
        self._database.dispose()


def _file_in(data_dir: Path) -> str:
    """The URL of the database file, which its owner alone may read: not all of it is encrypted."""
    file = data_dir / "stoker.db"
    file.touch(mode=0o600)
    return f"sqlite:///{file}"
