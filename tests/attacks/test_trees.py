"""Templates that are too large: stacks nested in each other, and many faults."""

from __future__ import annotations

from typing import Any

import pytest

from tests.attacks.arena import Arena


def groups_in_groups(count: int, depth: int) -> dict[str, Any]:
    inner: dict[str, Any] = {"type": "OS::Heat::None"}
    for _ in range(depth):
        properties = {"count": count, "resource_def": inner}
        inner = {"type": "OS::Heat::ResourceGroup", "properties": properties}
    return {"heat_template_version": "2018-08-31", "resources": {"g": inner}}


@pytest.mark.parametrize("path", ["/stacks/preview", "/validate", "/stacks"])
def test_oversized_nested_groups_are_refused(arena: Arena, path: str) -> None:
    body = {"stack_name": "tree", "template": groups_in_groups(1000, 4)}
    if path == "/validate":
        del body["stack_name"]
    with arena.attacked(seconds=120, mebibytes=700) as attacker:
        answer = attacker.ask("POST", path, body)
    assert answer.status_code in (400, 403), answer.text
    assert "more values than one request may examine" in answer.text


def test_many_wrong_sections_are_refused_soon(arena: Arena) -> None:
    wrong = {f"section{number}": {} for number in range(300_000)}
    template = {"heat_template_version": "2018-08-31", **wrong}
    with arena.attacked(seconds=60) as attacker:
        answer = attacker.ask("POST", "/validate", {"template": template})
    assert answer.status_code == 400
    assert "section0" in answer.text
