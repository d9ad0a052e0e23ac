"""The operations of a stack, and their course.

The row of an operation has no times of start and end: the events of the stack have them. An event
with the status IN_PROGRESS of the stack itself starts an operation with the same action, and the
events up to the next one belong to it.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from itertools import zip_longest
from typing import Any

import sqlalchemy as sa
from msgspec import Struct, field

from stoker.engine.model.records import Action, OperationStatus, Status
from stoker.engine.model.storage.overview import PastOperation
from stoker.store.schema import tables

SLACK_SECONDS = 1.0  # the event of a start may be older than the row of its operation

_operations, _events = tables.operations.c, tables.events.c
_LISTED = sa.select(
    _operations.number,
    _operations.id,
    _operations.action,
    _operations.kind,
    _operations.status,
    _operations.reason,
    _operations.created_at,
)


class _Course(Struct, frozen=True):
    """The events from the start of an operation to the next start."""

    action: Action
    started_at: float
    ends: list[float] = field(default_factory=list)
    statuses: dict[str, str] = field(default_factory=dict)  # the last one, by resource

    def counts(self) -> dict[str, int]:
        """Return the number of resources for each status."""
        found: dict[str, int] = {}
        for status in self.statuses.values():
            found[status] = found.get(status, 0) + 1
        return found


def past_operations(
    connection: sa.Connection, stack_id: str, limit: int, before: str | None
) -> list[PastOperation]:
    """Return operations of a stack, newest first; ``before`` is the id of a newer one."""
    select = _LISTED.where(_operations.stack_id == stack_id)
    if before is not None:
        marker = sa.select(_operations.number).where(_operations.id == before).scalar_subquery()
        select = select.where(_operations.number < marker)
    # One more than requested: an older operation may have a start that fits the oldest one, too.
    select = select.order_by(_operations.number.desc()).limit(limit + 1)
    rows = connection.execute(select).all()
    if not rows:
        return []
    courses = list(_courses(connection, stack_id, rows[-1].created_at - SLACK_SECONDS))
    oldest_first = rows[::-1]
    newer = [row.created_at for row in oldest_first[1:]]
    found = [
        _operation(row, courses, until)
        for row, until in zip_longest(oldest_first, newer, fillvalue=math.inf)
    ]
    return found[::-1][:limit]


def _courses(connection: sa.Connection, stack_id: str, since: float) -> Iterator[_Course]:
    select = (
        sa.select(_events.time, _events.action, _events.status, _events.resource_id)
        .where(_events.stack_id == stack_id, _events.time >= since)
        .order_by(_events.number)
    )
    course: _Course | None = None
    for time, action, status, resource_id in connection.execute(select):
        if resource_id is None and status == Status.IN_PROGRESS:
            if course is not None:
                yield course
            course = _Course(Action(action), time)
        elif course is None:
            continue
        elif resource_id is None:
            course.ends.append(time)
        else:
            course.statuses[resource_id] = f"{action}_{status}"
    if course is not None:
        yield course


def _operation(row: Any, courses: list[_Course], newer_at: float) -> PastOperation:
    """Return an operation; take its course from the list, which is in the order of starts.

    An operation that was superseded has started before the newer one was created, or never.
    """
    status, action = OperationStatus(row.status), Action(row.action)
    until = newer_at if status is OperationStatus.SUPERSEDED else math.inf
    index = next(
        (
            index
            for index, each in enumerate(courses)
            if each.action == action and row.created_at - SLACK_SECONDS <= each.started_at <= until
        ),
        None,
    )
    course = None if index is None or status is OperationStatus.WAITING else courses.pop(index)
    return PastOperation(
        id=row.id,
        action=action,
        kind=str(row.kind),
        status=status,
        reason=row.reason,
        created_at=row.created_at,
        started_at=None if course is None else course.started_at,
        ended_at=course.ends[-1] if course is not None and course.ends and status.final else None,
        counts={} if course is None else course.counts(),
    )
