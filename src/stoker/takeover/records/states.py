"""Actions and statuses, from their words in Heat's rows."""

from __future__ import annotations

from typing import Any

from stoker.engine.model.records import Action, Status
from stoker.takeover.errors import UnreadableValueError

INTERRUPTED = "interrupted by the take-over"
# Remarks about a stack, and about a resource in a stack whose last operation failed.
RUNNING = "an operation is in progress in Heat; repeat the pass when it has ended, or with --wait"
NOT_REACHED = "the last operation in Heat ended before it"


def action_of(word: Any, place: str) -> Action:
    """Return an action; none is INIT. Raise UnreadableValueError with the place."""
    try:
        return Action(word or Action.INIT)
    except ValueError:
        raise UnreadableValueError(f"{place}: there is no action {word}") from None


def status_of(word: Any, place: str) -> Status:
    """Return a status; none is COMPLETE. Raise UnreadableValueError with the place."""
    try:
        return Status(word or Status.COMPLETE)
    except ValueError:
        raise UnreadableValueError(f"{place}: there is no status {word}") from None


def ended_state(row: Any, place: str) -> tuple[Action, Status, str]:
    """Return action, status and reason of a row; an action in progress has failed."""
    action, status = action_of(row["action"], place), status_of(row["status"], place)
    if status is Status.IN_PROGRESS:
        return action, Status.FAILED, INTERRUPTED
    return action, status, row["status_reason"] or ""


def is_created(row: Any) -> bool:
    """Return whether the create of a resource has started."""
    return row["action"] not in (None, Action.INIT.value)
