"""The rows of trusts, and when they may go."""

from __future__ import annotations

import sqlalchemy as sa
from tests.store.inline import InlineRunner

from stoker.engine.model.records import TrustRecord
from stoker.kernel.values import replace
from stoker.store.records.trusts import SqlTrusts
from stoker.store.schema import tables
from stoker.store.sql.databases import open_database

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


async def test_trusts_are_retired_with_last_live_stack() -> None:
    database = open_database("sqlite://")
    trusts = SqlTrusts(database, InlineRunner())
    for trust in (FIRST, OTHER):
        await trusts.add_trust(trust, None)
    assert await trusts.add_trust(SECOND, "t1") == "t2"
    assert await trusts.trust("t1") == replace(FIRST, replaced_by="t2")
    assert await trusts.trust("t0") is None
    assert await trusts.usable_trust(replace(FIRST, trust_id="")) is None
    assert await trusts.usable_trust(replace(SECOND, trust_id="")) == "t2"
    add_stack(database, "u", None)
    add_stack(database, "v", 5.0)
    assert await trusts.left_behind() == [("p", "v")]
    assert await trusts.retire_trusts("p", "u") == ([], True)
    assert await trusts.retire_trusts("p", "v") == (["t3"], False)
    with database.begin() as connection:
        connection.execute(tables.stacks.update().values(deleted_at=6.0))
    ids, others = await trusts.retire_trusts("p", "u")
    assert (sorted(ids), others) == (["t1", "t2"], False)
    assert await trusts.usable_trust(replace(SECOND, trust_id="")) is None
    await trusts.drop_trust("t1")
    await trusts.drop_trust("t1")
    assert await trusts.trust("t1") is None
    assert sorted(await trusts.left_behind()) == [("p", "u"), ("p", "v")]
    database.dispose()


async def test_second_trust_for_same_user_is_redundant() -> None:
    database = open_database("sqlite://")
    trusts = SqlTrusts(database, InlineRunner())
    add_stack(database, "u", None)
    assert await trusts.add_trust(FIRST, None) == "t1"
    assert await trusts.add_trust(replace(FIRST, trust_id="t4"), None) == "t1"
    assert await trusts.add_trust(replace(FIRST, trust_id="t5"), "t1") == "t5"
    assert await trusts.add_trust(replace(FIRST, trust_id="t6"), "t1") == "t5"
    ids, others = await trusts.retire_trusts("p", "u")
    assert (sorted(ids), others) == (["t4", "t6"], True)
    database.dispose()
