"""The state of a stack and its nested stacks, which shows whether an engine drove one since."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import sqlalchemy as sa

from stoker.engine.model.records import TreeState
from stoker.store.schema import tables
from stoker.store.sql.encryption import plain_size

_AT_ONCE = 500  # ids in one statement


def tree(connection: sa.Connection, stack_id: str, *, locked: bool) -> TreeState:
    """Return the state of a stack and its live nested stacks; ``locked`` locks their rows."""
    stacks, tokens = tables.stacks.c, dict[str, int]()
    found = _tokens(connection, stacks.id == stack_id, locked=locked)
    while found:
        tokens.update(found)
        above, found = list(found), {}
        for some in _parts_of(above):
            found |= _tokens(connection, stacks.parent_id.in_(some), locked=locked)
    ids = list(tokens)
    open_ = frozenset(_with_open_operations(connection, ids))
    return TreeState(tokens, open_, _newest_operations(connection, ids))


def count_resources(connection: sa.Connection, root_id: str, besides: str) -> int:
    """Return the number of resources in the live stacks of a tree.

    One stack is left out, and so are replaced objects.
    """
    resources = tables.resources.c
    count = sa.select(sa.func.count()).where(
        resources.stack_id.in_(_others(root_id, besides)), resources.replaced_by.is_(None)
    )
    return int(connection.execute(count).scalar_one())


def values_size(connection: sa.Connection, root_id: str, stack_id: str) -> tuple[int, int]:
    """Return the size in bytes of a stack's resource values, and of the rest of its tree."""
    resources = tables.resources.c
    others = _others(root_id, stack_id)
    size = sa.select(sa.func.sum(resources.size))
    own = connection.execute(size.where(resources.stack_id == stack_id)).scalar_one()
    rest = connection.execute(size.where(resources.stack_id.in_(others))).scalar_one()
    return plain_size(own), plain_size(rest)


def _others(root_id: str, besides: str) -> sa.Select[Any]:
    """Return the query for the ids of the live stacks of a tree, except one."""
    stacks = tables.stacks.c
    whole = sa.or_(stacks.id == root_id, stacks.root_id == root_id)
    return sa.select(stacks.id).where(whole, stacks.deleted_at.is_(None), stacks.id != besides)


def _tokens(
    connection: sa.Connection, which: sa.ColumnElement[bool], *, locked: bool
) -> dict[str, int]:
    stacks = tables.stacks.c
    select = sa.select(stacks.id, stacks.fencing_token).where(which, stacks.deleted_at.is_(None))
    select = select.order_by(stacks.id)
    found = connection.execute(select.with_for_update() if locked else select)
    return {id_: token for id_, token in found}  # noqa: C416 - a row is no tuple to the checker


def _with_open_operations(connection: sa.Connection, stack_ids: Sequence[str]) -> Iterator[str]:
    columns = tables.operations.c
    for some in _parts_of(stack_ids):
        select = sa.select(columns.stack_id).where(
            columns.stack_id.in_(some), columns.status.in_(tables.OPEN)
        )
        yield from connection.execute(select).scalars()


def _newest_operations(connection: sa.Connection, stack_ids: Sequence[str]) -> dict[str, int]:
    columns, newest = tables.operations.c, dict[str, int]()
    for some in _parts_of(stack_ids):
        select = sa.select(columns.stack_id, sa.func.max(columns.number)).where(
            columns.stack_id.in_(some)
        )
        for stack_id, number in connection.execute(select.group_by(columns.stack_id)):
            newest[stack_id] = number
    return newest


def _parts_of(ids: Sequence[str]) -> Iterator[Sequence[str]]:
    return (ids[begin : begin + _AT_ONCE] for begin in range(0, len(ids), _AT_ONCE))
