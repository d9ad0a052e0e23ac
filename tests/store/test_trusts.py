"""The rows of trusts, and when they may go."""

from __future__ import annotations

import sqlalchemy as sa
from tests.store.inline import InlineRunner

from stoker.engine.model.records import TrustRecord
from stoker.store import tables
from stoker.store.databases import open_database
from stoker.store.trusts import SqlTrusts

FIRST = TrustRecord("t1", "p", "u", "s", ("member", "reader"))
SECOND = TrustRecord("t2", "p", "u", "s", ("member",))
OTHER = TrustRecord("t3", "p", "v", "s", ())


def add_stack(database: sa.Engine, user: str, deleted_at: float | None) -> None:
    row = {
        column.key: 0 if isinstance(column.type, sa.Integer | sa.Float | sa.Boolean) else "{}"
        for column in tables.stacks.columns
        if not column.nullable and column.server_default is None
    }
    row |= {"id": f"{user}-{deleted_at}", "project_id": "p", "user_id": user}
    with database.begin() as connection:
        connection.execute(tables.stacks.insert(), {**row, "deleted_at": deleted_at})


async def test_trusts_are_retired_once_their_user_has_no_live_stack() -> None:
    database = open_database("sqlite://")
    trusts = SqlTrusts(database, InlineRunner())
    for trust in (FIRST, OTHER):
        await trusts.add_trust(trust, None)
    await trusts.add_trust(SECOND, "t1")
    assert [(t.trust_id, t.replaced_by, t.roles) for t in await trusts.trusts()] == [
        ("t1", "t2", ("member", "reader")),
        ("t3", None, ()),
        ("t2", None, ("member",)),
    ]
    add_stack(database, "u", None)
    add_stack(database, "v", 5.0)
    assert not await trusts.retire_trusts("p", "u")
    assert list(await trusts.retire_trusts("p", "v")) == ["t3"]
    with database.begin() as connection:
        connection.execute(tables.stacks.update().values(deleted_at=6.0))
    assert sorted(await trusts.retire_trusts("p", "u")) == ["t1", "t2"]
    assert all(trust.retired for trust in await trusts.trusts())
    await trusts.drop_trust("t1")
    await trusts.drop_trust("t1")
    assert [trust.trust_id for trust in await trusts.trusts()] == ["t3", "t2"]
    database.dispose()
