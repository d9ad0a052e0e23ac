"""Reads for guards, inside the transaction that writes their changes."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import sqlalchemy as sa

from stoker.engine.model.interfaces import TransactionReader
from stoker.engine.model.limits import Amount
from stoker.engine.model.records import Queued, Stack, TreeState
from stoker.engine.model.storage.changes import Change, OwnerChange, records_of
from stoker.store.read import queries, trees
from stoker.store.records import trusts
from stoker.store.records.change_sets import ChangeSetsInTransaction
from stoker.store.records.software import SoftwareInTransaction
from stoker.store.records.watches import WatchesInTransaction
from stoker.store.schema import tables
from stoker.store.sql import rows
from stoker.store.sql.compiled import found
from stoker.store.sql.encryption import Cipher, plain_size

_LIVE = sa.select(sa.func.count().label("count")).where(
    tables.stacks.c.project_id == sa.bindparam("project", None),
    tables.stacks.c.live_name.is_not(None),
)


class SqlTransactionReader(
    SoftwareInTransaction, WatchesInTransaction, ChangeSetsInTransaction, TransactionReader
):
    """Reads of one transaction. Their results stay valid until it ends.

    SQLite has one writing transaction at a time. In other databases the rows are locked, and the
    project against new rows.
    """

    def __init__(
        self,
        transaction: sa.Connection,
        cipher: Cipher,
        unwritten: Sequence[Change],
        flush: Callable[[], None],
    ) -> None:
        super().__init__(transaction, cipher, unwritten, flush)
        self._counts: dict[str, int] = {}  # written stacks by project

    def settle(self) -> None:
        """Write the changes that are allowed so far."""
        if self._unwritten:
            self._counts.clear()
        super().settle()

    def stack(self, stack_id: str) -> Stack | None:
        """Return a stack, locked."""
        one = sa.select(tables.stacks).where(tables.stacks.c.id == stack_id)
        select = queries.with_requested(one).with_for_update(of=tables.stacks)
        for row in rows.dicts(self._connection.execute(select)):
            return rows.to_stack(row, self._cipher, row["requested"])
        return None

    def queue(self, stack_id: str) -> Sequence[Queued]:
        """Return the operations that are not final. Read the stack first, which locks it."""
        return queries.queue(self._connection, stack_id)

    def tree(self, stack_id: str) -> TreeState:
        """Return the state of a stack and its nested stacks, locked."""
        return trees.locked_tree(self._connection, stack_id)

    def has_resource(self, resource_id: str) -> bool:
        """Return whether there is the row; it is locked."""
        column = tables.resources.c.id
        select = sa.select(column).where(column == resource_id).with_for_update()
        return self._connection.execute(select).first() is not None

    def signals_of(self, resource_id: str) -> Amount:
        """Return the number and size of the signals.

        Call `has_resource` first, which locks the row.
        """
        columns = tables.signals.c
        select = sa.select(sa.func.count(), sa.func.sum(columns.size))
        of_resource = select.where(columns.resource_id == resource_id)
        count, size = self._connection.execute(of_resource).one()
        return Amount(count, plain_size(size))

    def signals_size_of_stack(self, stack_id: str) -> int:
        """Return the bytes of the signals of a stack's resources."""
        columns = tables.signals.c
        select = sa.select(sa.func.sum(columns.size)).where(columns.stack_id == stack_id)
        return plain_size(self._connection.execute(select).scalar_one())

    def count_stacks(self, project_id: str) -> int:
        """Return the number of live stacks; lock the project against new ones."""
        for change in self._unwritten:
            if isinstance(change, OwnerChange):
                self.settle()  # It may end a stack.
                break
        if project_id not in self._counts:
            queries.lock_project(self._transaction, project_id)
            live = found(self._transaction, _LIVE, project=project_id)
            self._counts[project_id] = live[0]["count"]
        new = 0
        for change in self._unwritten:
            for stack in records_of(change, Stack):
                new += stack.parent_id is None and stack.project_id == project_id
        return self._counts[project_id] + new

    def may_act_by(self, credentials: Mapping[str, Any]) -> bool:
        """Return whether credentials can be used. A trust of this service is locked."""
        trust_id = credentials.get("trust_id")
        if trust_id is None or credentials.get("borrowed", False):
            return True
        # Needs no flush: no change contains trusts.
        return trusts.counts(self._transaction, trust_id)

    def count_snapshots(self, stack_id: str) -> int:
        """Return the number of snapshots. Read the stack first, which locks it."""
        column = tables.snapshots.c.stack_id
        select = sa.select(sa.func.count()).where(column == stack_id)
        return int(self._connection.execute(select).scalar_one())

    def has_snapshot(self, snapshot_id: str) -> bool:
        """Return whether there is the snapshot. Read the stack first, which locks it."""
        select = sa.select(tables.snapshots.c.id).where(tables.snapshots.c.id == snapshot_id)
        return self._connection.execute(select).first() is not None
