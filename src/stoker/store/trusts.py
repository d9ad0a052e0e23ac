"""The rows of trusts: written before a trust is used, dropped after it is removed."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

import sqlalchemy as sa

from stoker.engine.model.records import TrustRecord
from stoker.store import tables
from stoker.store.databases import for_writing
from stoker.store.runners import Runner
from stoker.store.transactions import in_transaction

Result = TypeVar("Result")


class SqlTrusts:
    """Trusts in a relational database; see ``stoker.identity.trusts.TrustRecords``."""

    def __init__(self, engine: sa.Engine, runner: Runner) -> None:
        self._engine = for_writing(engine)
        self._runner = runner

    async def _write(self, change: Callable[[sa.Connection], Result]) -> Result:
        return await self._runner.write(lambda: in_transaction(self._engine, change))

    async def trusts(self) -> Sequence[TrustRecord]:
        """All of them, oldest first."""
        select = sa.select(tables.trusts).order_by(tables.trusts.c.number)
        return await self._write(
            lambda connection: [_record(row) for row in connection.execute(select).mappings()]
        )

    async def add_trust(self, trust: TrustRecord, replaces: str | None) -> None:
        """Record a trust, and that it stands for another one."""
        table = tables.trusts
        row = {
            "trust_id": trust.trust_id,
            "project_id": trust.project_id,
            "user_id": trust.user_id,
            "trustee_id": trust.trustee_id,
            "roles": json.dumps(trust.roles),
            "replaced_by": trust.replaced_by,
            "retired": trust.retired,
        }

        def add(connection: sa.Connection) -> None:
            connection.execute(table.insert(), row)
            if replaces is not None:
                old = table.c.trust_id == replaces
                connection.execute(table.update().where(old).values(replaced_by=trust.trust_id))

        await self._write(add)

    async def retire_trusts(self, project_id: str, user_id: str) -> Sequence[str]:
        """Mark the trusts of a user without a live stack in the project; return their ids."""
        table, stacks = tables.trusts, tables.stacks
        own = sa.and_(table.c.project_id == project_id, table.c.user_id == user_id)
        live = sa.exists().where(
            stacks.c.project_id == project_id,
            stacks.c.user_id == user_id,
            stacks.c.deleted_at.is_(None),
        )

        def retire(connection: sa.Connection) -> list[str]:
            connection.execute(table.update().where(own, ~live).values(retired=True))
            retired = sa.select(table.c.trust_id).where(own, table.c.retired)
            return [str(trust_id) for trust_id in connection.execute(retired).scalars()]

        return await self._write(retire)

    async def drop_trust(self, trust_id: str) -> None:
        """Forget a trust."""
        drop = tables.trusts.delete().where(tables.trusts.c.trust_id == trust_id)
        await self._write(lambda connection: connection.execute(drop))


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
