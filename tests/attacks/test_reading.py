"""Requests that only read."""

from __future__ import annotations

from typing import Any

import pytest

from tests.attacks.arena import Arena, ended

NEST = {
    "heat_template_version": "2018-08-31",
    "resources": {"inner": {"type": "inner.yaml"}},
}
INNER = "heat_template_version: 2018-08-31\nresources: {r: {type: OS::Heat::None}}\n"


@pytest.mark.parametrize("what", ["resources", "events"])
def test_a_depth_beyond_all_stacks_costs_nothing(arena: Arena, what: str) -> None:
    name, depth = f"tree-{what}", 2**31 - 1
    stack = arena.attacker.create(name, NEST, files={"inner.yaml": INNER})
    with arena.attacked(seconds=10) as attacker:
        answer = attacker.ask("GET", f"/stacks/{name}/{stack}/{what}?nested_depth={depth}")
    assert answer.status_code == 200
    assert any(found["resource_name"] == "r" for found in answer.json()[what])


LONG_TEXT = {"a.txt": "é\n" * 1_000_000}
PLAIN: dict[str, Any] = {"heat_template_version": "2018-08-31", "resources": {}}
LONG_BODIES: dict[str, dict[str, Any]] = {
    "maps": {"template": {**PLAIN, "outputs": {"a": {"value": [{"ab": 1}] * 300_000}}}},
    "lists": {"template": {**PLAIN, "x": [[]] * 200_000}},
    "keys": {"template": PLAIN, "parameters": {str(n): n for n in range(100_000)}},
    "text": {"template": PLAIN, "files": LONG_TEXT},
    "too many values": {"template": {**PLAIN, "x": [1] * 1_500_000}},
    "no flag": {"template": PLAIN, "disable_rollback": [1] * 900_000},
}


@pytest.mark.long  # half a minute
@pytest.mark.parametrize("what", LONG_BODIES)
def test_long_body_delays_no_other_request(arena: Arena, what: str) -> None:
    with arena.attacked(seconds=60) as attacker:
        answer = attacker.ask("POST", "/validate", LONG_BODIES[what])
    accepted = what in ("maps", "text")
    assert answer.status_code == (200 if accepted else 400), answer.text[:500]


@pytest.mark.long
def test_long_document_is_stored_and_shown(arena: Arena) -> None:
    with arena.attacked(seconds=60) as attacker:
        stack = attacker.create("long", PLAIN, files=LONG_TEXT)
        assert ended(attacker, "long") == "CREATE_COMPLETE"
        assert attacker.ask("GET", f"/stacks/long/{stack}/files").json() == LONG_TEXT
