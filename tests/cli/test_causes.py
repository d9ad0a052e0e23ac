"""The screen of ``stoker why``."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import click
import pytest

from stoker.cli.deploy.causes import ShownAs, lines_of, parsed_explanation, steps_of

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


def screen(
    state: str, *causes: dict[str, Any], shown_as: ShownAs | None = None, **told: Any
) -> list[str]:
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
    found = parsed_explanation({"why": why}, shown_as)
    steps = list(steps_of(found, None, shown_as))
    after = ["", "What next", *(f"  {step}" for step in steps)] if steps else []
    return [click.unstyle(line) for line in [*lines_of(found, NOW), *after]]


def test_waiting_stack_shows_durations_and_causes() -> None:
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


def test_failure_shows_position_and_remedy() -> None:
    position = {"file": "member.yaml", "line": 4, "column": 3}
    shown = screen(
        "CREATE_FAILED", cause("failed", "g", "0", "x", position=position, request_id="req-1")
    )
    assert shown == [
        "shop: CREATE_FAILED",
        "",
        "✗ g/0/x  T  (member.yaml:4)",
        "    failed 5.0 s ago: as the cloud says",
        "    -> if the reason is not clear, ask the cloud's operator about req-1",
        "",
        "What next",
        "  fix member.yaml:4, or provide what the cloud is missing",
        "  stoker deploy TEMPLATE --name shop ...   # the same command continues from here",
        "  stoker destroy shop   # or delete everything",
    ]
    waited = cause("failed", "x", resource_type="OS::Heat::WaitCondition")
    servers = "    -> check the servers' consoles: stoker logs shop"
    assert servers in screen("CREATE_FAILED", waited)
    assert servers not in shown
    assert screen("DELETE_FAILED", cause("failed", "x"))[-1].startswith("  stoker destroy shop")


def test_failed_deployment_names_files_as_given() -> None:
    position = {"file": None, "line": 4, "column": 3}
    inner = "nested/web.yaml:29:7: there is no flavor 'm1.nope'"
    shown = screen(
        "UPDATE_FAILED",
        cause("failed", "a", position=position),
        cause("failed", "b", position=position, text=inner),
        shown_as=lambda file: f"dir/{file or 'app.yaml'}",
    )
    assert "✗ a  T  (dir/app.yaml:4)" in shown
    fix = "  fix dir/app.yaml:4, dir/nested/web.yaml:29, or provide what the cloud is missing"
    assert fix in shown
    again = "  stoker deploy dir/app.yaml --name shop ...   # the same command continues from here"
    assert again in shown


BY_B = [{"id": "i", "path": None, "used_by": [["n", "b"]]}]


@pytest.mark.parametrize(
    ("text", "objects", "advice"),
    [
        ("VolumeLimitExceeded: Maximum number of volumes allowed (3)", [], "the project's quota"),
        ("Quota exceeded for instances: Requested 1 (HTTP 403)", [], "the project's quota"),
        (
            "External network e is not reachable from subnet s.",
            [],
            "connect the subnet to a router",
        ),
        ("Port i is still in use. (HTTP 409)", BY_B, "n/b holds the port"),
        ("Port i is still in use. (HTTP 409)", [], "something outside the stack uses the port"),
        ("IP address 10.0.0.4 already allocated in subnet s", BY_B, "n/b has the address"),
        (
            "IP address 10.0.0.4 already allocated in subnet s",
            [],
            "something outside the stack has it: openstack port list --fixed-ip ip-address=10.0.0",
        ),
    ],
)
def test_known_failures_have_remedies_without_request_id(
    text: str, objects: list[Any], advice: str
) -> None:
    failed = cause("failed", "a", text=text, objects=objects, request_id="req-1")
    shown = screen("CREATE_FAILED", failed)
    assert any(line.startswith(f"    -> {advice}") for line in shown)
    assert not any("req-1" in line for line in shown)


@pytest.mark.parametrize(
    ("text", "advice"),
    [
        (
            "busy (HTTP 409, request r)",
            "it is retried for up to 5 minutes; then the operation fails",
        ),
        ("busy (HTTP 503)", "it is retried until the cloud accepts it or the operation times out"),
    ],
)
def test_retried_call_shows_its_duration(text: str, advice: str) -> None:
    shown = screen("CREATE_IN_PROGRESS", cause("retry", "a", text=text))
    assert f"    -> {advice}" in shown


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


def test_causes_fit_one_screen() -> None:
    many = [cause("cloud", f"r{number}") for number in range(30)]
    shown = screen("CREATE_IN_PROGRESS", *many, complete=False)
    assert len(shown) < 40
    assert shown[-1] == "and many more: stoker why shop --json"
    assert screen("CREATE_IN_PROGRESS", *many)[-1] == "and 20 more: stoker why shop --json"


def test_a_stack_that_is_fine_says_so() -> None:
    assert screen("CREATE_COMPLETE") == ["shop: CREATE_COMPLETE", "  a reason"]
