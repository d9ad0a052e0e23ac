"""The rows of trusts: written before a trust is used, dropped after it is removed.

Many processes write them. A trust is retired in a transaction that locks its row and then looks
for stacks; one that records a stack locks the row before it looks whether the trust is retired.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

import sqlalchemy as sa

from stoker.engine.model.records import TrustRecord
from stoker.store.ownership.turns import SqlTurns
from stoker.store.read import queries
from stoker.store.schema import tables
from stoker.store.sql.compiled import prepared
from stoker.store.sql.databases import for_writing
from stoker.store.sql.runners import Runner
from stoker.store.sql.transactions import in_time, in_transaction

Result = TypeVar("Result")

_TRUSTS, _STACKS = tables.trusts, tables.stacks
_LIVE = sa.exists().where(
    _STACKS.c.project_id == _TRUSTS.c.project_id,
    _STACKS.c.user_id == _TRUSTS.c.user_id,
    _STACKS.c.deleted_at.is_(None),
)
_RETIRED = (
    sa.select(_TRUSTS.c.retired)
    .where(_TRUSTS.c.trust_id == sa.bindparam("trust", None))
    .with_for_update(read=True)
)


def counts(connection: sa.Connection, trust_id: str) -> bool:
    """Return whether stacks may use a trust. The result is valid until the transaction ends."""
    values = {"trust": trust_id}
    retired = prepared(connection, _RETIRED).execute(connection, values).scalar()
    return retired is not None and not retired


class SqlTrusts:
    """Trusts in a relational database; see ``stoker.identity.delegation.trusts.TrustRecords``."""

    def __init__(self, engine: sa.Engine, runner: Runner, turns: SqlTurns | None = None) -> None:
        """``turns`` is given if many processes share the database."""
        self._engine = engine
        self._writing = for_writing(engine)
        self._runner = runner
        self._turns = turns

    async def _write(self, change: Callable[[sa.Connection], Result]) -> Result:
        return await in_time(self._runner.write(lambda: in_transaction(self._writing, change)))

    async def _read(self, query: Callable[[sa.Connection], Result]) -> Result:
        return await in_time(self._runner.read(lambda: in_transaction(self._engine, query)))

    async def trust(self, trust_id: str) -> TrustRecord | None:
        """Return one trust."""
        select = sa.select(_TRUSTS).where(_TRUSTS.c.trust_id == trust_id)
        row = await self._read(lambda connection: connection.execute(select).mappings().first())
        return None if row is None else _record(row)

    async def usable_trust(self, desired: TrustRecord) -> str | None:
        """Return the id of a trust with the same rights that is neither replaced nor retired."""
        return await self._read(lambda connection: _usable(connection, desired))

    async def add_trust(self, trust: TrustRecord, replaces: str | None) -> str:
        """Record a trust, and that it replaces another one.

        Returns the id of the valid one: if that is another, this one is retired.
        """
        old = _TRUSTS.c.trust_id == replaces
        row = {
            "trust_id": trust.trust_id,
            "project_id": trust.project_id,
            "user_id": trust.user_id,
            "trustee_id": trust.trustee_id,
            "roles": json.dumps(trust.roles),
            "replaced_by": trust.replaced_by,
        }

        def add(connection: sa.Connection) -> str:
            queries.lock_project(connection, trust.project_id)
            if replaces is None:
                other = _usable(connection, trust)
            else:
                other = connection.execute(sa.select(_TRUSTS.c.replaced_by).where(old)).scalar()
            connection.execute(_TRUSTS.insert(), {**row, "retired": other is not None})
            if other is not None:
                return other
            if replaces is not None:
                new = {"replaced_by": trust.trust_id}
                connection.execute(_TRUSTS.update().where(old).values(new))
            return trust.trust_id

        return await self._write(add)

    async def retire_trusts(self, project_id: str, user_id: str) -> tuple[Sequence[str], bool]:
        """Mark the trusts of a user without a live stack in the project; returns the ids of those
        that are marked, and whether others are left.

        None are marked while an exclusive service of an earlier release runs: it does not check its
        cached trusts.
        """
        own = sa.and_(_TRUSTS.c.project_id == project_id, _TRUSTS.c.user_id == user_id)
        select = sa.select(_TRUSTS.c.trust_id, _TRUSTS.c.retired).where(own)
        locked = select.order_by(_TRUSTS.c.number).with_for_update()

        def retire(connection: sa.Connection) -> tuple[list[str], bool]:
            known = [row.trust_id for row in connection.execute(locked)]
            if known and (self._turns is None or not self._turns.one_drives(connection)):
                # A separate statement sees the stacks of transactions that had the locks before.
                unused = sa.and_(_TRUSTS.c.trust_id.in_(known), ~_LIVE)
                connection.execute(_TRUSTS.update().where(unused).values(retired=True))
            rows = connection.execute(select).all()
            ids = [row.trust_id for row in rows if row.retired]
            return ids, len(ids) < len(rows)

        return await self._write(retire)

    async def left_behind(self) -> Sequence[tuple[str, str]]:
        """Return project and user of retired trusts, and of users without live stacks."""
        left = sa.or_(_TRUSTS.c.retired, ~_LIVE)
        select = sa.select(_TRUSTS.c.project_id, _TRUSTS.c.user_id).where(left).distinct()
        return await self._read(
            lambda connection: [(row.project_id, row.user_id) for row in connection.execute(select)]
        )

    async def ask_others(self, trust_id: str) -> bool:
        """Notify the other processes of a refused trust; return whether there can be any."""
        turns = self._turns
        if turns is None:
            return False
        await self._write(lambda connection: turns.notify(connection, [f"trust {trust_id}"]))
        return True

    async def drop_trust(self, trust_id: str) -> None:
        """Delete the row of a trust."""
        drop = _TRUSTS.delete().where(_TRUSTS.c.trust_id == trust_id)
        await self._write(lambda connection: connection.execute(drop))


def _usable(connection: sa.Connection, desired: TrustRecord) -> str | None:
    select = (
        sa.select(_TRUSTS.c.trust_id)
        .where(
            _TRUSTS.c.project_id == desired.project_id,
            _TRUSTS.c.user_id == desired.user_id,
            _TRUSTS.c.trustee_id == desired.trustee_id,
            _TRUSTS.c.roles == json.dumps(desired.roles),
            _TRUSTS.c.replaced_by.is_(None),
            _TRUSTS.c.retired.is_(False),
        )
        .order_by(_TRUSTS.c.number.desc())
        .limit(1)
    )
    return connection.execute(select).scalar()


def _record(row: Any) -> TrustRecord:
    return TrustRecord(
        trust_id=row["trust_id"],
        project_id=row["project_id"],
        user_id=row["user_id"],
        trustee_id=row["trustee_id"],
        roles=tuple(json.loads(row["roles"])),
        replaced_by=row["replaced_by"],
        retired=bool(row["retired"]),
    )
