"""A store, opened from options and closed again."""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from pathlib import Path

import sqlalchemy as sa

from stoker.kernel.clock import Clock, SystemClock
from stoker.store.maintenance.reencryption import Reencryption
from stoker.store.ownership.cluster_tables import Members, require_shareable
from stoker.store.ownership.engine_lock import EngineLock
from stoker.store.records.spent_tickets import SqlSpentTickets
from stoker.store.records.trusts import SqlTrusts
from stoker.store.sql.databases import open_database
from stoker.store.sql.encryption import ColumnCipher
from stoker.store.sql.foreign import UnusableDatabaseError, has_check, require_key
from stoker.store.sql.keys import key_file, key_from_passphrase, keys_in, stored_keys_in
from stoker.store.sql.runners import ThreadRunner
from stoker.store.store import SqlStore


class OpenStore:
    """The store of one process. Without a URL it is a file in the data directory."""

    def __init__(
        self,
        url: str | None,
        data_dir: Path,
        passphrase: str | None = None,
        earlier: Sequence[str] = (),
        *,
        notifies: bool = False,
        member: str | None = None,
        synchronous: bool | None = None,
    ) -> None:
        """``passphrase`` is the text of the newest key; by default it is in the data directory.

        ``earlier`` ones may have encrypted some of the rows. ``member`` is the name of one of many
        processes that share the database.
        """
        self._data_dir = data_dir
        with contextlib.ExitStack() as refused:
            self._database = open_database(url or _file_in(data_dir), synchronous=synchronous)
            refused.callback(self._database.dispose)
            if member is not None:
                require_shareable(self._database)
            self._cipher = self._usable(passphrase, earlier)
            self._runner = ThreadRunner()
            self.members = None if member is None else Members(self._database, self._runner, member)
            refused.pop_all()
        turns = None if self.members is None else self.members.turns
        self.store = SqlStore(
            self._database,
            self._cipher,
            self._runner,
            notifies=notifies,
            defer=None if turns is None else turns.defer,
        )
        self.trusts = SqlTrusts(self._database, self._runner, turns)
        self.spent_tickets = SqlSpentTickets(self._database, self._runner)
        self.lock = EngineLock(self._database, shared=member is not None)
        self.reencryption = Reencryption(self._database, self._cipher, self._runner)

    def _usable(self, passphrase: str | None, earlier: Sequence[str]) -> ColumnCipher:
        """A cipher with keys that fit the database. Raises UnusableDatabaseError."""
        if not passphrase and not earlier:
            self._require_key_file()
        keys = keys_of(self._data_dir, passphrase, earlier)
        cipher = ColumnCipher(*keys, stored_keys=lambda: stored_keys_in(self._data_dir))
        place = "auth_encryption_key" if passphrase else str(key_file(self._data_dir))
        require_key(self._database, cipher, place)
        return cipher

    @property
    def clock(self) -> Clock:
        """The clock that all go by who use the database."""
        return SystemClock() if self.members is None else self.members.clock

    @property
    def database(self) -> sa.Engine:
        """The database, for work of operators on its rows while no service uses it."""
        return self._database

    @property
    def seals(self) -> ColumnCipher:
        """The keys of the database, for texts that clients keep."""
        return self._cipher

    def renew_keys(self, passphrase: str | None, earlier: Sequence[str] = ()) -> None:
        """Use the keys as they are now. Raises :class:`UnusableDatabaseError` where that of the
        database is not among them: nothing is changed then.
        """
        keys = keys_of(self._data_dir, passphrase, earlier)
        require_key(self._database, ColumnCipher(*keys), "no key that is named by now")
        self._cipher.use(*keys)

    def _require_key_file(self) -> None:
        path = key_file(self._data_dir)
        if path.exists() and not stored_keys_in(self._data_dir):
            raise UnusableDatabaseError(
                f"{path} is empty: bring back the key that the database is encrypted with, or"
                " remove the file to start with an empty database"
            )
        if has_check(self._database) and not path.exists():
            raise UnusableDatabaseError(
                f"{key_file(self._data_dir)} is missing, and the database is encrypted with it:"
                " bring it back (or set auth_encryption_key, if the database was made with it), or"
                " start with an empty database"
            )

    def close(self) -> None:
        """Let running transactions end and close the database."""
        self._runner.close()
        self.lock.release()
        if self.members is not None:
            self.members.leader_lock.release()
        self._database.dispose()


def keys_of(data_dir: Path, passphrase: str | None, earlier: Sequence[str]) -> list[bytes]:
    """The keys, the newest first: made of passphrases, and those of the data directory. These are
    made where there is no passphrase.
    """
    before = [key_from_passphrase(text) for text in earlier]
    if not passphrase:
        return [*keys_in(data_dir), *before]
    return [key_from_passphrase(passphrase), *before, *stored_keys_in(data_dir)]


def _file_in(data_dir: Path) -> str:
    """Return the URL of the database file. Only its owner may read it: some of it is plain text."""
    data_dir.mkdir(mode=0o700, parents=True, exist_ok=True)
    file = data_dir / "stoker.db"
    file.touch(mode=0o600)
    return f"sqlite:///{file}"
