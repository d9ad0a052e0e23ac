"""Store access to change sets, exports, client tokens, protections and drift detections."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

import sqlalchemy as sa

from stoker.engine.model.change_sets import NO_CHANGE_SETS, KeepsChangeSets
from stoker.engine.model.interfaces import Change, OwnerChange
from stoker.engine.model.watches import NO_WATCHES
from stoker.schema.software import NO_SOFTWARE
from stoker.store.read.group_read import Reading
from stoker.store.records.change_sets import (
    SqlChangeSets,
    SqlDetections,
    SqlProtections,
    write_change_sets,
    write_detections,
    write_protections,
)
from stoker.store.records.client_tokens import SqlClientTokens
from stoker.store.records.exports import SqlExports, import_rows, write_exports
from stoker.store.records.software import write_software
from stoker.store.records.watches import write_watches
from stoker.store.schema import tables
from stoker.store.sql.bulk import insert
from stoker.store.sql.encryption import Cipher


class UserRecords(Reading, KeepsChangeSets):
    """Change sets and the like of a relational database."""

    @cached_property
    def change_sets(self) -> SqlChangeSets:
        """Change sets."""
        return SqlChangeSets(self._engine, self._cipher, self._runner)

    @cached_property
    def protections(self) -> SqlProtections:
        """Return the protections of stacks."""
        return SqlProtections(self._engine, self._cipher, self._runner)

    @cached_property
    def detections(self) -> SqlDetections:
        """Detections of drift."""
        return SqlDetections(self._engine, self._cipher, self._runner)

    @cached_property
    def client_tokens(self) -> SqlClientTokens:
        """Requests by their tokens."""
        return SqlClientTokens(self._engine, self._cipher, self._runner)

    @cached_property
    def exports(self) -> SqlExports:
        """Exports of stacks."""
        return SqlExports(self._engine, self._cipher, self._runner)


def write_kept(connection: sa.Connection, changes: Sequence[Change], cipher: Cipher) -> None:
    """Write the parts of changes that concern these records."""
    used = import_rows(record for change in changes for record in change.inputs)
    insert(connection, tables.imports, used)
    for change in changes:
        if change.software is not NO_SOFTWARE:
            write_software(connection, change.software, cipher)
        if change.watches is not NO_WATCHES:
            write_watches(connection, change.watches)
        if isinstance(change, OwnerChange):
            write_exports(connection, change, cipher)
            continue
        if change.change_sets is not NO_CHANGE_SETS:
            write_change_sets(connection, change.change_sets, cipher)
        if change.protections:
            write_protections(connection, change.protections)
        if change.detections:
            write_detections(connection, change.detections, cipher)
