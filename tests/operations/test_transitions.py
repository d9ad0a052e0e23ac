"""The table of allowed status transitions, which every change passes."""

from __future__ import annotations

import pytest

from stoker.engine.model.records import Action, Resource, Stack, Status
from stoker.engine.model.transitions import TransitionError, Transitions
from stoker.kernel.ids import RandomIds


class _Clock:
    def now(self) -> float:
        return 1.0


TRANSITIONS = Transitions(_Clock(), RandomIds())


def row(action: Action, status: Status) -> Resource:
    return Resource("id", "stack", "a", "T", "token", 0.0, 0.0, action=action, status=status)


@pytest.mark.parametrize("action", [Action.CREATE, Action.UPDATE, Action.CHECK])
def test_deleted_stack_allows_only_another_delete(action: Action) -> None:
    deleted = row(Action.DELETE, Status.COMPLETE)
    with pytest.raises(TransitionError, match="DELETE_COMPLETE"):
        TRANSITIONS.resource_to(deleted, action, Status.IN_PROGRESS)
    stack = Stack("id", "p", "s", Action.DELETE, Status.COMPLETE, "", 0.0, "i")
    with pytest.raises(TransitionError, match="DELETE_COMPLETE"):
        TRANSITIONS.stack_to(stack, action, Status.IN_PROGRESS, "")


@pytest.mark.parametrize("status", [Status.COMPLETE, Status.FAILED])
def test_only_action_in_progress_can_end(status: Status) -> None:
    with pytest.raises(TransitionError):
        TRANSITIONS.resource_to(row(Action.CREATE, Status.COMPLETE), Action.CREATE, status)
    with pytest.raises(TransitionError):
        TRANSITIONS.resource_to(row(Action.CREATE, Status.IN_PROGRESS), Action.UPDATE, status)


def test_transition_event_describes_new_row() -> None:
    new, event = TRANSITIONS.resource_to(
        row(Action.CREATE, Status.IN_PROGRESS), Action.CREATE, Status.FAILED, "why"
    )
    assert (event.action, event.status, event.reason) == (new.action, new.status, "why")
    assert event.resource_id == new.id
