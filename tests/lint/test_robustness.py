"""Rules accept malformed documents: each part of an example is replaced by odd values."""

from __future__ import annotations

import random
from collections.abc import Iterator
from copy import deepcopy
from typing import Any

import pytest

from stoker.cli.authoring.lint.catalogue import all_rules
from stoker.cli.authoring.lint.linter import lint
from stoker.cli.authoring.lint.rule import Level, Rule
from stoker.cli.authoring.lint.settings import Settings
from stoker.template.source.source import accept, read
from tests.lint.examples import documents_of

MUTATIONS = 4  # of each example
ODD: tuple[Any, ...] = (
    None, "", "x", 3, 1.5, True, [], {}, [[]], [None], [{}], {"x": None}, [1, "a", {"b": []}],
    {"get_param": []}, {"get_attr": []}, {"if": []}, {"if": ["c"]}, {"get_resource": {}},
    {"Fn::Sub": [1, 2]}, {"Ref": ["a"]}, {"str_replace": []}, {"str_replace": {"params": [1]}},
)  # fmt: skip
LONG = 200_000  # characters
EVERYTHING = Settings(level=Level.ALL)


def places(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Yield the paths of all values below a value."""
    members = value.items() if isinstance(value, dict) else enumerate(value)
    for key, inner in members:
        yield (*path, key)
        if isinstance(inner, dict | list):
            yield from places(inner, (*path, key))


def mutated(data: Any, path: tuple[Any, ...], value: Any) -> Any:
    """Return a copy with another value at a path."""
    found = deepcopy(data)
    inner = found
    for part in path[:-1]:
        inner = inner[part]
    inner[path[-1]] = value
    return found


@pytest.mark.parametrize("rule", all_rules().values(), ids=lambda rule: rule.name)
def test_rules_accept_malformed_documents(rule: Rule) -> None:
    chance = random.Random(rule.name)
    for example in (rule.bad, rule.good):
        template, environment = documents_of(rule, example)
        data = read(template or environment or "").data
        found = list(places(data))
        for _ in range(MUTATIONS):
            odd = mutated(data, chance.choice(found), chance.choice(ODD))
            lint(accept(odd), EVERYTHING)


@pytest.mark.parametrize("part", ["a", "a.", "curl ", "# ", "a://", " a: b\n", "; ", "curl \\\n"])
def test_long_scripts_take_linear_time(part: str) -> None:
    """Quadratic patterns would take minutes for these."""
    script = f"#!/bin/sh\n{part * (LONG // len(part))}"
    properties = {"image": "debian", "flavor": "small", "user_data": script}
    server = {"type": "OS::Nova::Server", "properties": properties}
    data = {"heat_template_version": "2021-04-16", "resources": {"server": server}}
    found = {each.code for each in lint(accept(data), EVERYTHING)}
    assert "long-user-data" in found
