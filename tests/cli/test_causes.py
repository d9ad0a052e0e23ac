"""The screen of ``stoker why``."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import click
import pytest

from stoker.cli.causes import lines_of, parsed_explanation, steps_of

NOW = datetime(2026, 11, 22, 12, 0, 10, tzinfo=UTC)


def cause(kind: str, *path: str, **told: Any) -> dict[str, Any]:
    return {
        "kind": kind,
        "path": list(path),
        "stack_name": "shop",
        "stack_id": "id",
        "resource_type": "T",
        "text": "as the cloud says",
        "since": "2026-11-22T12:00:05Z",
        "waits_for": [],
        "hook": None,
        "request_id": None,
        "position": None,
        **told,
    }


def screen(state: str, *causes: dict[str, Any], **told: Any) -> list[str]:
    why = {
        "stack_name": "shop",
        "stack_status": state,
        "stack_status_reason": "a reason",
        "since": "2026-11-22T12:00:00Z",
        "deadline": None,
        "complete": True,
        "causes": list(causes),
        **told,
    }
    found = parsed_explanation({"why": why})
    steps = list(steps_of(found))
    after = ["", "What next", *(f"  {step}" for step in steps)] if steps else []
    return [click.unstyle(line) for line in [*lines_of(found, NOW), *after]]


def test_a_stack_that_waits_says_since_when_how_long_yet_and_for_what() -> None:
    shown = screen(
        "CREATE_IN_PROGRESS",
        cause("cloud", "a"),
        cause("signal", "b", text="0 of 1 signals received"),
        cause("dependency", "c", text="waits for a"),
        deadline="2026-11-22T12:01:00Z",
    )
    assert shown == [
        "shop: CREATE_IN_PROGRESS for 10.0 s; times out in 50.0 s",
        "",
        "● a  T",
        "    waits for 5.0 s: as the cloud says",
        "",
        "● b  T",
        "    waits for 5.0 s: 0 of 1 signals received",
        "    -> check the servers' consoles: stoker logs shop",
        "",
        "· c  waits for a",
    ]


def test_a_failure_says_where_it_stands_and_what_to_do() -> None:
    position = {"file": "member.yaml", "line": 4, "column": 3}
    shown = screen(
        "CREATE_FAILED", cause("failed", "g", "0", "x", position=position, request_id="req-1")
    )
    assert shown == [
        "shop: CREATE_FAILED",
        "",
        "✗ g/0/x  T  (member.yaml:4)",
        "    failed 5.0 s ago: as the cloud says",
        "    -> search the cloud's logs for req-1",
        "",
        "What next",
        "  fix member.yaml:4, or provide what the cloud is missing",
        "  stoker deploy TEMPLATE --name shop   # continues from here",
        "  stoker destroy shop   # or delete everything",
    ]
    waited = cause("failed", "x", resource_type="OS::Heat::WaitCondition")
    servers = "    -> check the servers' consoles: stoker logs shop"
    assert servers in screen("CREATE_FAILED", waited)
    assert servers not in shown
    assert screen("DELETE_FAILED", cause("failed", "x"))[-1].startswith("  stoker destroy shop")


@pytest.mark.parametrize(
    ("path", "command"),
    [
        (("a",), "openstack stack hook clear --pre-create shop a"),
        (("n", "a"), "openstack stack hook clear --pre-create id a"),
    ],
)
def test_a_hook_says_how_it_is_cleared(path: tuple[str, ...], command: str) -> None:
    shown = screen("CREATE_IN_PROGRESS", cause("hook", *path, hook="pre-create"))
    assert shown[-1] == f"    -> {command}"


def test_one_screen_is_enough_and_says_how_much_is_left_out() -> None:
    many = [cause("cloud", f"r{number}") for number in range(30)]
    shown = screen("CREATE_IN_PROGRESS", *many, complete=False)
    assert len(shown) < 40
    assert shown[-1] == "and many more: stoker why shop --json"
    assert screen("CREATE_IN_PROGRESS", *many)[-1] == "and 20 more: stoker why shop --json"


def test_a_stack_that_is_fine_says_so() -> None:
    assert screen("CREATE_COMPLETE") == ["shop: CREATE_COMPLETE", "  a reason"]
