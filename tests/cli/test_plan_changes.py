"""The lines in which a plan is shown."""

from __future__ import annotations

from typing import Any

import click
import pytest

from stoker.cli.deploy.plan import Plan, plan_of_create, plan_of_update, summary, tree

VALUE = {"name": "value", "old": 1, "new": 2, "known": True}
SIZE = {"name": "size", "old": 3, "new": 4, "known": True}
LATER = {"name": "uses", "old": "i", "new": None, "known": False, "known_after": ["b"]}

UNCERTAIN = '? a  T  because something it refers to may change\n    uses: "i" -> (known after b)'


def plan_of(*found: tuple[str, dict[str, Any]]) -> Plan:
    kinds: dict[str, list[Any]] = {"added": [], "updated": [], "replaced": [], "deleted": []}
    for kind, told in found:
        whole = {"resource_name": "a", "stack_name": "s", "resource_type": "T", **told}
        kinds[kind].append(whole)
    return plan_of_update({"resource_changes": kinds}, lambda file: file or "app.yaml")


def shown(plan: Plan) -> str:
    return click.unstyle(tree(plan.changes))


@pytest.mark.parametrize(
    ("kind", "told", "text"),
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
                "position": {"file": None, "line": 7, "column": 3},
                "after": ["b"],
            },
            "± a  T  because of value  (after b; app.yaml:7)\n    size: 3 -> 4\n    value: 1 -> 2",
        ),
        (
            "updated",
            {"change_reason": "unknown", "property_changes": [LATER]},
            UNCERTAIN,
        ),
        (
            "updated",
            {"change_reason": "unknown", "property_changes": [LATER], "may_force": ["uses"]},
            f"{UNCERTAIN}\n    if uses turns out to be different, it will be replaced",
        ),
        (
            "updated",
            {
                "change_reason": "property",
                "property_changes": [SIZE],
                "interruptions": {"size": "it restarts"},
            },
            "~ a  T  because of size\n    size: 3 -> 4\n    interrupted by size: it restarts",
        ),
        (
            "deleted",
            {"change_reason": "not wanted", "keeps_object": True},
            "- a  T\n    its object is kept, as its deletion policy says",
        ),
        # an older service names no reason
        ("replaced", {"property_changes": [VALUE]}, "± a  T  because of value\n    value: 1 -> 2"),
    ],
)
def test_a_line_says_what_forces_a_change(kind: str, told: dict[str, Any], text: str) -> None:
    assert shown(plan_of((kind, told))) == text


def nested(*path: str, step: int = 0, **told: Any) -> dict[str, Any]:
    return {"resource_name": path[-1], "path": list(path), "step": step, **told}


def test_changes_are_shown_in_order_with_nested_ones() -> None:
    plan = plan_of(
        ("updated", nested("g", step=2, change_reason="nested", inside="changes")),
        ("updated", nested("same", step=1, change_reason="nested", inside="same")),
        ("updated", nested("other", step=9, change_reason="nested", inside="unknown")),
        ("added", nested("g", "new", "x", step=1)),
        ("replaced", nested("z", step=1)),
        ("deleted", nested("g", "old", step=2)),
    )
    assert shown(plan).splitlines() == [
        "± z  T",
        "~ g  T  because something inside it changes",
        "    + new/x  T",
        "    - old  T",
        "? other  T  what changes inside it is not known yet",
    ]
    counts = "1 added, 1 updated, 1 perhaps updated, 1 replaced, 1 deleted"
    assert summary(plan.changes) == counts


def test_create_plan_shows_resources_with_paths() -> None:
    item = {"resource_type": "T", "stack_name": "s"}
    resources = [
        {**item, "resource_name": "a", "path": ["a"]},
        [[{**item, "resource_name": "x", "path": ["g", "0", "x"]}]],
    ]
    plan = plan_of_create({"stack": {"resources": resources}, "plan_fingerprint": "p"})
    assert shown(plan).splitlines() == ["+ a  T", "+ g/0/x  T"]
    assert plan.fingerprint == "p"


def test_possible_replacement_is_loss_retained_object_is_not() -> None:
    may = {"change_reason": "unknown", "may_force": ["uses"]}
    kept = {"change_reason": "not wanted", "keeps_object": True}
    losses = [c.is_loss for c in plan_of(("updated", may), ("deleted", kept)).changes]
    assert losses == [True, False]


def members(names: list[str], **told: Any) -> list[tuple[str, dict[str, Any]]]:
    return [("added", {"path": ["g", name], "resource_name": name, **told}) for name in names]


@pytest.mark.parametrize(
    ("names", "line"),
    [
        ([str(number) for number in range(300)], "g[0..299]  T"),
        ([str(number) for number in range(1, 300, 2)], "g[1 and 149 others]  T"),
        (["a", "b", "c", "d"], "g[a and 3 others]  T"),
    ],
)
def test_equal_members_share_one_line(names: list[str], line: str) -> None:
    plan = plan_of(*members(names))
    assert shown(plan) == f"+ {line}"
    assert len(plan.changes) == len(names)


def test_members_are_folded_below_their_group() -> None:
    group = ("added", {"path": ["g"], "resource_name": "g"})
    plan = plan_of(group, *members([str(number) for number in range(5)]))
    assert shown(plan) == "+ g  T\n    + [0..4]  T"


def test_nested_members_are_folded_with_their_resources() -> None:
    inside = [("added", {"path": ["g", name, "port"], "resource_name": "port"}) for name in "01234"]
    assert shown(plan_of(*members(list("01234")), *inside)) == "+ g[0..4]  T\n    + port  T"


def test_members_that_differ_are_shown_one_by_one() -> None:
    names = ["0", "1", "2", "3"]
    plan = plan_of(
        *(("updated", {"path": ["g", n], "property_changes": [{**VALUE, "new": n}]}) for n in names)
    )
    assert shown(plan).count("because of value") == 4
    assert len(shown(plan_of(*members(names[:3]))).splitlines()) == 3
