"""Lists of stacks and events: filters, order and pages, as SQL."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import sqlalchemy as sa

from stoker.engine.model.kinds import OperationKind
from stoker.engine.model.records import Action, OperationStatus, Queued
from stoker.engine.model.requests import EventQuery, Page, StackQuery
from stoker.kernel.json.text import dumps
from stoker.store.schema import tables
from stoker.store.sql.compiled import RowsOf, found, prepared
from stoker.store.sql.postgresql import FIRST_TREE, SPACE, TREES, Lock

_STACK_FILTERS = {
    "id": "id",
    "name": "name",
    "stack_name": "name",
    "action": "action",
    "stack_action": "action",
    "status": "status",
    "stack_status": "status",
    "stack_status_reason": "reason",
    "username": "user_name",
    "stack_owner": "user_name",
    "owner_id": "parent_id",
    "parent": "parent_id",
    "tenant": "project_id",
    "timeout_mins": "timeout_mins",
    "disable_rollback": "disable_rollback",
    "stack_user_project_id": "user_project_id",
}
_STACK_SORT = {
    "stack_name": "name",
    "stack_status": "status",
    "creation_time": "created_at",
    "updated_time": "updated_at",
}
_EVENT_FILTERS = {
    "resource_status": "status",
    "resource_action": "action",
    "resource_name": "resource_name",
    "resource_type": "resource_type",
}
_EVENT_SORT = {"event_time": "time", "resource_type": "resource_type"}

# A value that an integer column can have; no other text equals one.
_INTEGER = re.compile(r"-?[0-9]{1,9}")


# Leave out the credentials, which no list shows and which take long to decrypt.
_LISTED: sa.Select[Any] = sa.select(
    *(column for column in tables.stacks.c if column is not tables.stacks.c.credentials),
    sa.literal_column("'{}'").label("credentials"),
)


def stack_list(project_id: str | None, query: StackQuery) -> sa.Select[Any]:
    """Return the query of the stacks that match, without order and page."""
    stacks = tables.stacks
    select = _LISTED
    if project_id is not None:
        select = select.where(stacks.c.project_id == project_id)
    if not query.show_deleted:
        select = select.where(stacks.c.deleted_at.is_(None))
    if not query.show_nested:
        select = select.where(stacks.c.parent_id.is_(None))
    if query.with_object is not None:
        resources = tables.resources.c
        has = resources.stack_id == stacks.c.id, resources.physical_id == query.with_object
        select = select.where(sa.exists().where(*has))
    select = _filtered(select, stacks, _STACK_FILTERS, query.filters)
    return _tagged(select, query)


def _filtered(
    select: sa.Select[Any],
    table: sa.Table,
    columns: Mapping[str, str],
    filters: Mapping[str, Sequence[str]],
) -> sa.Select[Any]:
    for name, allowed in filters.items():
        if name not in columns:
            continue
        column = table.c[columns[name]]
        values: list[Any] = list(allowed)
        if isinstance(column.type, sa.Boolean):
            values = [str(value).lower() == "true" for value in allowed]
        elif isinstance(column.type, sa.Integer):
            values = [int(value) for value in allowed if _INTEGER.fullmatch(str(value))]
        select = select.where(column.in_(values))
    return select


def _tagged(select: sa.Select[Any], query: StackQuery) -> sa.Select[Any]:
    column = tables.stacks.c.tags

    def has(tag: str) -> sa.ColumnElement[bool]:
        # The column has the tags as a JSON list, in which a tag is a quoted text.
        return column.contains(dumps(tag), autoescape=True)

    for tag in query.tags:
        select = select.where(has(tag))
    if query.tags_any:
        select = select.where(sa.or_(*(has(tag) for tag in query.tags_any)))
    if query.not_tags:
        select = select.where(sa.not_(sa.and_(*(has(tag) for tag in query.not_tags))))
    if query.not_tags_any:
        select = select.where(sa.not_(sa.or_(*(has(tag) for tag in query.not_tags_any))))
    return select


def stack_page(select: sa.Select[Any], page: Page) -> sa.Select[Any]:
    """Return the query of one page, newest first unless the page has another order."""
    stacks = tables.stacks
    keys = [_STACK_SORT[key] for key in page.sort_keys if key in _STACK_SORT] or ["created_at"]
    descending = page.descending if page.descending is not None else not page.sort_keys
    columns = [stacks.c[key] for key in keys] + [stacks.c.id]
    return _paged(select, stacks, columns, page, descending=descending)


def event_page(stack_ids: Sequence[str], query: EventQuery) -> sa.Select[Any]:
    """Return the query of events, oldest first unless the page has another order."""
    events = tables.events
    select = sa.select(events).where(events.c.stack_id.in_(stack_ids))
    if query.resource_name is not None:
        select = select.where(events.c.resource_name == query.resource_name)
    select = _filtered(select, events, _EVENT_FILTERS, query.filters)
    keys = [_EVENT_SORT[key] for key in query.page.sort_keys if key in _EVENT_SORT]
    columns = [events.c[key] for key in keys] + [events.c.number]
    descending = bool(query.page.descending)
    return _paged(select, events, columns, query.page, descending=descending)


def in_pages(select: sa.Select[Any], table: sa.Table, page: Page) -> sa.Select[Any]:
    """Return the query of one page of a numbered table, oldest first."""
    return _paged(select, table, [table.c.number], page, descending=False)


def lock_project(connection: sa.Connection, project_id: str) -> None:
    """Lock a project against other transactions that lock it, until this one ends.

    SQLite has one writing transaction at a time.
    """
    if connection.dialect.name == "postgresql":
        key = sa.func.hashtext(project_id)
        connection.execute(sa.select(sa.func.pg_advisory_xact_lock(key)))


# Earlier releases lock the numbers of all events exclusively. They and this one exclude each other.
_LOCK_TREES = sa.text(
    "SELECT pg_advisory_xact_lock_shared(:space, :numbers) UNION ALL"
    " SELECT pg_advisory_xact_lock(:space, tree.key) FROM ("
    " SELECT DISTINCT :first + (hashtext(coalesce(root_id, id)) & :mask) AS key"
    " FROM stacks WHERE id = ANY(CAST(:ids AS text[])) ORDER BY key"
    ") AS tree"
).bindparams(space=SPACE, numbers=Lock.NUMBERS.value, first=FIRST_TREE, mask=TREES - 1)


def lock_event_numbers(connection: sa.Connection, stack_ids: Iterable[str]) -> None:
    """Lock the event numbers of the trees of these stacks until the transaction ends.

    A client reads the events of a tree in the order of their numbers, so they must appear in that
    order. Call this once in a transaction, for all of its events: the keys are locked in order.
    """
    if connection.dialect.name == "postgresql":
        prepared(connection, _LOCK_TREES).execute(connection, {"ids": sorted(set(stack_ids))})


def _paged(
    select: sa.Select[Any],
    table: sa.Table,
    columns: list[sa.Column[Any]],
    page: Page,
    *,
    descending: bool,
) -> sa.Select[Any]:
    select = select.order_by(*(c.desc() if descending else c.asc() for c in columns))
    if page.marker is not None:
        select = select.where(_after(table, columns, page.marker, descending=descending))
    if page.limit:
        select = select.limit(page.limit)
    return select


def _after(
    table: sa.Table, columns: Sequence[sa.Column[Any]], marker: str, *, descending: bool
) -> sa.ColumnElement[bool]:
    """Return the condition that a row comes after another; true if the other does not exist.

    An index serves a plain comparison, but not one that is optional.
    """
    here: list[Any] = [
        sa.select(c).where(table.c.id == marker).limit(1).scalar_subquery() for c in columns
    ]
    first, after = columns[0], sa.tuple_(*columns)
    beyond = None if first.nullable else _BEYOND.get(type(first.type))
    if beyond is not None:
        here[0] = sa.func.coalesce(here[0], beyond if descending else -beyond)
    place = sa.tuple_(*here)
    comes = after < place if descending else after > place
    if beyond is not None:
        return comes
    return sa.or_(~sa.exists().where(table.c.id == marker), comes)


# A value beyond that of any row, by type of the column.
_BEYOND: Mapping[type[Any], float] = {sa.Float: sys.float_info.max, sa.BigInteger: 2**63 - 1}


def with_requested(select: sa.Select[Any]) -> sa.Select[Any]:
    """Add to a query of stacks the action that waits to start, as ``requested``."""
    operations = tables.operations
    # In one statement: between two, the action may have started.
    waiting = (
        sa.select(operations.c.action)
        .where(
            operations.c.stack_id == tables.stacks.c.id,
            operations.c.status == OperationStatus.WAITING,
            operations.c.action != "SIGNAL",
        )
        .order_by(operations.c.number.desc())
        .limit(1)
        .scalar_subquery()
    )
    return select.add_columns(waiting.label("requested"))


def _queued_of(which: sa.ColumnElement[bool]) -> sa.Select[Any]:
    columns = tables.operations.c
    return (
        sa.select(
            columns.id,
            columns.stack_id,
            columns.action,
            columns.kind,
            columns.status,
            columns.number,
            columns.parent_operation,
        )
        .where(which)
        .order_by(columns.number)
    )


_IS_OPEN = tables.operations.c.status.in_(tables.OPEN)
# Operations of a stack that are not final, oldest first, without their plans.
QUEUE = RowsOf(_queued_of(_IS_OPEN), tables.operations.c.stack_id)
_PARTS = _queued_of(
    sa.and_(
        tables.operations.c.stack_id == sa.bindparam("stack", None),
        tables.operations.c.parent_operation == sa.bindparam("above", None),
    )
)

_other = tables.operations.alias()
_last_success = (
    sa.select(sa.func.coalesce(sa.func.max(_other.c.number), 0))
    .where(
        _other.c.stack_id == tables.operations.c.stack_id,
        _other.c.kind == OperationKind.CHANGE,
        _other.c.status == OperationStatus.COMPLETE,
    )
    .scalar_subquery()
)
# Inputs of the operations since the last change of a stack that succeeded.
UNSETTLED_INPUTS = RowsOf(
    sa.select(
        tables.operations.c.stack_id, tables.operations.c.input_id, tables.operations.c.back_to
    ).where(tables.operations.c.number > _last_success),
    tables.operations.c.stack_id,
)


def queue(connection: sa.Connection, stack_id: str) -> list[Queued]:
    """Return the operations of a stack that are not final, oldest first, without their plans."""
    return queued(QUEUE.find(connection, [stack_id])[stack_id])


def parts(connection: sa.Connection, stack_id: str, parent_operation: str) -> list[Queued]:
    """Return the operations of a stack that are part of one of its parent."""
    return queued(found(connection, _PARTS, stack=stack_id, above=parent_operation))


def queued(some: Iterable[Mapping[str, Any]]) -> list[Queued]:
    """Return the operations of such rows."""
    return [
        Queued(
            row["id"],
            row["stack_id"],
            Action(row["action"]),
            OperationKind(row["kind"]),
            OperationStatus(row["status"]),
            row["number"],
            row["parent_operation"],
        )
        for row in some
    ]
