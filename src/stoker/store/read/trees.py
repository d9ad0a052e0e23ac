"""The state of a stack and its nested stacks, which shows whether an engine drove one since.

Nested stacks are read level by level. The statements are compiled once, and reads of many stacks
share them: an update reads the states of all its nested stacks at the same time.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import sqlalchemy as sa

from stoker.engine.model.records import TreeState
from stoker.store.schema import tables
from stoker.store.sql.compiled import InList, RowsOf
from stoker.store.sql.encryption import plain_size

_STACKS, _OPERATIONS = tables.stacks.c, tables.operations.c
_OF_STACK = _OPERATIONS.stack_id == _STACKS.id
_LIVE = sa.select(
    _STACKS.id, _STACKS.parent_id, _STACKS.fencing_token.label("fencing_token")
).where(_STACKS.deleted_at.is_(None))
_STATES = _LIVE.add_columns(
    sa.select(sa.func.max(_OPERATIONS.number)).where(_OF_STACK).scalar_subquery().label("newest"),
    sa.exists().where(_OF_STACK, _OPERATIONS.status.in_(tables.OPEN)).label("has_open"),
)
# Rows of many stacks, and of those nested directly in them.
STATES_OF, STATES_BELOW = RowsOf(_STATES, _STACKS.id), RowsOf(_STATES, _STACKS.parent_id)
_BELOW = InList(_STATES, _STACKS.parent_id)
_SELECTED = InList(_STATES, _STACKS.id)
_LOCKED = _LIVE.order_by(_STACKS.id).with_for_update()
_LOCKED_OF, _LOCKED_BELOW = InList(_LOCKED, _STACKS.id), InList(_LOCKED, _STACKS.parent_id)

_Rows = Sequence[Mapping[str, Any]]


def tree(connection: sa.Connection, own: _Rows, below: _Rows) -> TreeState:
    """Return the state of a stack and its live nested stacks.

    ``own`` are the rows of :data:`STATES_OF`, ``below`` those of :data:`STATES_BELOW`.
    """
    found = [*own, *below] if own else []
    while below and own:
        below = _BELOW.find(connection, [row["id"] for row in below])
        found += below
    return _state_of(found)


def locked_tree(connection: sa.Connection, stack_id: str) -> TreeState:
    """Return the state of a stack and its live nested stacks, and lock their rows."""
    ids: list[str] = []
    found = _LOCKED_OF.find(connection, [stack_id])
    while found:
        above = [row["id"] for row in found]
        ids += above
        found = _LOCKED_BELOW.find(connection, above)
    # Read the operations after the locks: another transaction may have added some before.
    return _state_of(_SELECTED.find(connection, set(ids)))


def _state_of(rows: Iterable[Mapping[str, Any]]) -> TreeState:
    tokens, open_, newest = dict[str, int](), set[str](), dict[str, int]()
    for row in rows:
        tokens[row["id"]] = row["fencing_token"]
        if row["has_open"]:
            open_.add(row["id"])
        if row["newest"] is not None:
            newest[row["id"]] = row["newest"]
    return TreeState(tokens, frozenset(open_), newest)


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
