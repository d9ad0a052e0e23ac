"""Fails operations that no engine can end, in SQL, without reading encrypted columns.

The rows of such an operation may be unreadable, or each engine that acquires its stack may die.
Status, event and operation change together, as in any other change.
"""

from __future__ import annotations

from typing import Any

import sqlalchemy as sa

from stoker.engine.model.records import Action, Event, Status
from stoker.kernel.ids import RandomIds
from stoker.store.read import queries
from stoker.store.records.outbox import SqlOutbox
from stoker.store.schema.tables import OPEN, events, operations, resources, stacks

_IDS = RandomIds()


def give_up(
    connection: sa.Connection, stack_id: str, reason: str, now: float, outbox: SqlOutbox
) -> None:
    """Fail every open operation of the stack."""
    mine = (operations.c.stack_id == stack_id, operations.c.status.in_(OPEN))
    actions = [
        action
        for (action,) in connection.execute(
            sa.select(operations.c.action).where(*mine).order_by(operations.c.number)
        )
        if action != "SIGNAL"
    ]
    connection.execute(
        operations.update().where(*mine).values(status="FAILED", reason=reason, plan=None)
    )
    found = connection.execute(sa.select(stacks).where(stacks.c.id == stack_id)).one_or_none()
    if found is None:
        return
    values: dict[str, Any] = {"fencing_token": stacks.c.fencing_token + 1, "take_ups": 0}
    failure_events: list[dict[str, Any]] = []
    if actions:
        values |= {"action": actions[-1], "status": "FAILED", "reason": reason}
        failure_events.append(
            _event(found, actions[-1], reason, now, found.name, "OS::Heat::Stack")
        )
    connection.execute(stacks.update().where(stacks.c.id == stack_id).values(**values))
    under_way = (resources.c.stack_id == stack_id, resources.c.status == "IN_PROGRESS")
    columns = resources.c
    select = sa.select(
        columns.id, columns.stack_id, columns.name, columns.type_name, columns.action
    ).where(*under_way)
    for row in connection.execute(select):
        event = _event(found, row.action, reason, now, row.name, row.type_name)
        failure_events.insert(0, {**event, "resource_id": row.id})
    connection.execute(resources.update().where(*under_way).values(status="FAILED", reason=reason))
    if failure_events:
        queries.lock_event_numbers(connection, [stack_id])
        connection.execute(events.insert(), failure_events)
        outbox.add(connection, [_record(event) for event in failure_events])


def _record(row: dict[str, Any]) -> Event:
    return Event(**{**row, "action": Action(row["action"]), "status": Status.FAILED})


def _event(
    stack: Any, action: str, reason: str, now: float, name: str, type_name: str
) -> dict[str, Any]:
    return {
        "id": _IDS.uuid(),
        "stack_id": stack.id,
        "time": now,
        "action": action,
        "status": "FAILED",
        "reason": reason,
        "resource_name": name,
        "resource_type": type_name,
        "resource_id": None,
        "physical_id": stack.id if type_name == "OS::Heat::Stack" else None,
        "properties": None,
    }
