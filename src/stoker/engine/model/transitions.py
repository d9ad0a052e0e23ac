"""The one place where a status changes (durability rule 5: state and event together).

``resource_to`` and ``stack_to`` return the new row and the event that tells of it; the caller
commits both in one change. A transition that is not in the table is a bug and raises.
"""

from __future__ import annotations

from typing import Any

from stoker.engine.model.records import Action, Event, Resource, Stack, Status
from stoker.kernel.clock import Clock
from stoker.kernel.ids import Ids
from stoker.kernel.values import replace

_BEGINS = {
    (None, Status.IN_PROGRESS),
    (Status.COMPLETE, Status.IN_PROGRESS),
    (Status.FAILED, Status.IN_PROGRESS),
    # a call that was under way when another action took over
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
    """A change of status that must not happen."""


def _check(old: tuple[Action, Status], new: tuple[Action, Status]) -> None:
    step = (old[1], new[1])
    same_action = old[0] == new[0]
    if step in _ENDS and same_action:
        return
    if step in _BEGINS and new[1] is Status.IN_PROGRESS:
        deleted = old == (Action.DELETE, Status.COMPLETE)
        if not (deleted and new[0] in _NEVER_AFTER_DELETE):
            return
    raise TransitionError(f"{old[0]}_{old[1]} -> {new[0]}_{new[1]}")


class Transitions:
    """Makes transitions with ids and times from the given sources."""

    def __init__(self, clock: Clock, ids: Ids) -> None:
        self._clock = clock
        self._ids = ids

    def resource_to(
        self, row: Resource, action: Action, status: Status, reason: str = "", **changes: Any
    ) -> tuple[Resource, Event]:
        """The row in its new status, with other columns changed too, and the event."""
        _check((row.action, row.status), (action, status))
        now = self._clock.now()
        if status is Status.IN_PROGRESS:
            changes.setdefault("action_started_at", now)
            changes.setdefault("progress", {})
        new = replace(row, action=action, status=status, reason=reason, updated_at=now, **changes)
        return new, self.event_of(new)

    def event_of(self, row: Resource) -> Event:
        """An event that tells of the row's status."""
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
        """The stack in its new status, with other columns changed too, and the event."""
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
