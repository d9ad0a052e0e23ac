"""Patterns in the list of resource types."""

from __future__ import annotations

import pytest

from tests.attacks.arena import Arena


@pytest.mark.parametrize(
    "pattern",
    ["(|.)" * 60 + "\t", "(.*)*\t", "((((a{1000}){1000}){1000}){1000})", "a{9999999999999}"],
)
def test_a_pattern_without_end_finds_nothing(arena: Arena, pattern: str) -> None:
    with arena.attacked(seconds=20) as attacker:
        answer = attacker.ask("GET", "/resource_types", params={"name": pattern})
    assert answer.status_code == 200
    assert answer.json() == {"resource_types": []}


def test_type_name_pattern_matches_its_prefix(arena: Arena) -> None:
    answer = arena.attacker.ask("GET", "/resource_types", params={"name": "OS::Heat::R.*Gr"})
    assert answer.json() == {"resource_types": ["OS::Heat::ResourceGroup"]}
