"""Requests that only read."""

from __future__ import annotations

import pytest

from tests.attacks.arena import Arena

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
