"""The lines in which a plan is shown."""

from __future__ import annotations

from typing import Any

import click
import pytest

from stoker.cli.changes import changes_of_update

VALUE = {"name": "value", "old": 1, "new": 2, "known": True}
SIZE = {"name": "size", "old": 3, "new": 4, "known": True}


def line(kind: str, **told: Any) -> str:
    found = {"resource_name": "a", "stack_name": "s", "resource_type": "T", **told}
    kinds: dict[str, list[Any]] = {"added": [], "updated": [], "replaced": [], "deleted": []}
    [change] = changes_of_update({"resource_changes": {**kinds, kind: [found]}})
    return click.unstyle(change.lines("s"))


@pytest.mark.parametrize(
    ("kind", "told", "shown"),
    [
        ("added", {"change_reason": "new"}, "+ a  T"),
        ("replaced", {"change_reason": "unhealthy"}, "± a  T  because it is marked unhealthy"),
        ("replaced", {"change_reason": "failed"}, "± a  T  because its last action failed"),
        (
            "updated",
            {"change_reason": "property", "property_changes": [VALUE]},
            "~ a  T  because of value\n    value: 1 -> 2",
        ),
        (
            "replaced",
            {
                "change_reason": "property",
                "property_changes": [SIZE, VALUE],
                "forced_by": ["value"],
            },
            "± a  T  because of value\n    size: 3 -> 4\n    value: 1 -> 2",
        ),
        (
            "updated",
            {
                "change_reason": "unknown",
                "property_changes": [
                    {"name": "uses", "old": "i", "new": None, "known": False, "known_after": ["b"]}
                ],
            },
            '? a  T  because what it refers to may change\n    uses: "i" -> (known after b)',
        ),
        # an older service names no reason
        ("replaced", {"property_changes": [VALUE]}, "± a  T  because of value\n    value: 1 -> 2"),
    ],
)
def test_a_line_says_what_forces_a_change(kind: str, told: dict[str, Any], shown: str) -> None:
    assert line(kind, **told) == shown
