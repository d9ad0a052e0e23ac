"""The values of a task's policies."""

from collections.abc import Mapping
from typing import Any

from localcloud.workflow.failures import RunFailedError

_MOST_ITEMS = 1_000  # of one task
_MOST_SECONDS = 10 * 365 * 86_400
_NUMBERS = ("wait-before", "wait-after", "timeout", "concurrency")


def checked_policies(policies: Mapping[str, Any]) -> dict[str, Any]:
    """Return policies with their defaults; raises RunFailedError for an invalid value."""
    found = dict(policies)
    numbers = [(name, found[name]) for name in _NUMBERS if name in found]
    numbers += [(f"retry.{name}", value) for name, value in (found.get("retry") or {}).items()]
    for name, value in numbers:
        if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value <= _MOST_SECONDS:
            detail = (
                f"Invalid value of the policy {name}: an integer is expected, not {value!r:.100}"
            )
            raise RunFailedError(detail)
    if "retry" in found:
        found["retry"] = {"count": 0, "delay": 0, **found["retry"]}
    return found


def rows(lists: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return the variables of each item; raises RunFailedError."""
    detail = f"Wrong input format for: {str(dict(lists))[:500]}."
    if not all(isinstance(value, list) for value in lists.values()):
        raise RunFailedError(f"{detail} Iterable type is expected for each value.")
    lengths = {len(value) for value in lists.values()}
    if len(lengths) > 1:
        raise RunFailedError(f"{detail} All arrays must have the same length.")
    if max(lengths) > _MOST_ITEMS:
        raise RunFailedError(f"A task has at most {_MOST_ITEMS} items.")
    return [dict(zip(lists, row, strict=True)) for row in zip(*lists.values(), strict=True)]
