"""The statuses of stacks in the terms of AWS, which its clients wait for."""

from __future__ import annotations

from collections.abc import Iterable

from stoker.engine.model.views import StackView

_REVIEW = "REVIEW_IN_PROGRESS"
_OF_UPDATE = "UPDATE_"
# Actions of a stack during a change set of type IMPORT, in terms of AWS.
_OF_IMPORTS = {"CREATE": "IMPORT", "UPDATE": "IMPORT", "ROLLBACK": "IMPORT_ROLLBACK"}


def status_of(action: str, status: str, stack: StackView) -> str:
    """Return the status of a stack for an action and its status.

    A rollback of an update has a name of its own, as has a stack with nothing but change sets.
    """
    if action == "INIT":
        return _REVIEW
    whole = f"{action}_{status}"
    return f"{_OF_UPDATE}{whole}" if action == "ROLLBACK" and stack.was_complete else whole


def shown_status(stack: StackView) -> str:
    """Return the status of a stack; clients of a change set of type IMPORT wait for its own."""
    if stack.is_import and stack.action in _OF_IMPORTS:
        return f"{_OF_IMPORTS[stack.action]}_{stack.status}"
    return status_of(stack.action, stack.status, stack)


def resource_status(action: str, status: str) -> str:
    """Return the status of a resource. AWS has no word for an adoption but import."""
    return f"IMPORT_{status}" if action == "ADOPT" else f"{action}_{status}"


def filters_of(statuses: Iterable[str]) -> dict[str, tuple[str, ...]]:
    """Return filters for all stacks that may have one of these statuses, and some others."""
    of_imports = {
        f"{action}_{status.removeprefix(prefix).removeprefix('_')}"
        for status in statuses
        for action, prefix in _OF_IMPORTS.items()
        if status.startswith(prefix)
    }
    plain = of_imports | {
        "INIT_COMPLETE" if status == _REVIEW else status.replace("UPDATE_ROLLBACK", "ROLLBACK")
        for status in statuses
    }
    split = [status.partition("_") for status in plain]
    return {
        "action": tuple(sorted({action for action, _, _ in split})),
        "status": tuple(sorted({end for _, _, end in split})),
    }
