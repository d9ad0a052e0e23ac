"""The one place where a status changes: returns the new row together with its event.

Takes a row or a stack with the new action and status. Produces the new record and the event that
reports it; the caller commits both in one change (see "Status and event together" in
docs/develop/invariants.md). A transition that is not in the table is a bug, and raises.

Sessions have one; only drivers use it. Tested by tests/operations/test_transitions.py.
"""

from __future__ import annotations

from functools import cache
from typing import Any

from stoker.engine.model.records import Action, Event, Resource, Stack, Status
from stoker.kernel.clock import Clock
from stoker.kernel.ids import RandomIds
from stoker.kernel.values import replace

_STARTS = {
    (None, Status.IN_PROGRESS),
    (Status.COMPLETE, Status.IN_PROGRESS),
    (Status.FAILED, Status.IN_PROGRESS),
    # An action was in progress when another operation superseded it.
    (Status.IN_PROGRESS, Status.IN_PROGRESS),
}
_ENDS = {
    (Status.IN_PROGRESS, Status.COMPLETE),
    (Status.IN_PROGRESS, Status.FAILED),
}
_NEVER_AFTER_DELETE = {
    Action.CREATE,
    Action.UPDATE,
    Action.SUSPEND,
    Action.RESUME,
    Action.CHECK,
    Action.SNAPSHOT,
    Action.RESTORE,
    Action.ADOPT,
}


class TransitionError(Exception):
    """A change of status that is not in the table: a bug."""


@cache
def _check(old: tuple[Action, Status], new: tuple[Action, Status]) -> None:
    step = (old[1], new[1])
    same_action = old[0] == new[0]
    if step in _ENDS and same_action:
        return
    if step in _STARTS and new[1] is Status.IN_PROGRESS:
        deleted = old == (Action.DELETE, Status.COMPLETE)
        if not (deleted and new[0] in _NEVER_AFTER_DELETE):
            return
    raise TransitionError(f"{old[0]}_{old[1]} -> {new[0]}_{new[1]}")


class Transitions:
    """Creates transitions with ids and times from the given sources."""

    def __init__(self, clock: Clock, ids: RandomIds) -> None:
        self._clock = clock
        self._ids = ids

    def resource_to(
        self, row: Resource, action: Action, status: Status, reason: str = "", **changes: Any
    ) -> tuple[Resource, Event]:
        """Return the row with its new status and other changed columns, and the event."""
        _check((row.action, row.status), (action, status))
        now = self._clock.now()
        # An action starts without the progress of an earlier one, which was another type method's.
        if status is Status.IN_PROGRESS:
            changes.setdefault("action_started_at", now)
            changes.setdefault("progress", {})
        new = replace(row, action=action, status=status, reason=reason, updated_at=now, **changes)
        return new, self.event_of(new)

    def event_of(self, row: Resource) -> Event:
        """Return the event that reports the status of a row."""
        return Event(
            id=self._ids.uuid(),
            stack_id=row.stack_id,
            time=self._clock.now(),
            action=row.action,
            status=row.status,
            reason=row.reason,
            resource_name=row.name,
            resource_type=row.type_name,
            resource_id=row.id,
            physical_id=row.physical_id,
            properties=row.properties,
        )

    def stack_to(
        self, stack: Stack, action: Action, status: Status, reason: str, **changes: Any
    ) -> tuple[Stack, Event]:
        """Return the stack with its new status and other changed columns, and the event."""
        if (stack.action, stack.status) != (Action.INIT, Status.COMPLETE):
            _check((stack.action, stack.status), (action, status))
        new = replace(stack, action=action, status=status, reason=reason, **changes)
        event = Event(
            id=self._ids.uuid(),
            stack_id=stack.id,
            time=self._clock.now(),
            action=action,
            status=status,
            reason=reason,
            resource_name=stack.name,
            resource_type="OS::Heat::Stack",
            physical_id=stack.id,
        )
        return new, event
