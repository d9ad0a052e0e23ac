"""Comparisons, and their words."""

from __future__ import annotations

import json
from typing import Any

import pytest

from stoker.cli.client.stacks import Resource
from stoker.cli.rehearsal.probes import Interruption
from stoker.cli.rehearsal.scenarios import FAILURE, with_failure
from stoker.cli.rehearsal.stack_state import StackState, compared

HOT = {"heat_template_version": "2018-08-31", "resources": {"a": {"type": "T"}}}


def resource(physical_id: str = "1", status: str = "COMPLETE") -> Resource:
    return Resource("a", "T", physical_id, "CREATE", status, "", "s", "app", None, (), None, "2026")


def state(physical_id: str = "1", size: int = 1, output: Any = "x", **more: Any) -> StackState:
    resources = {"a": resource(physical_id)}
    return StackState(resources, {"a": {"size": size}}, {"o": output}, more.get("template", HOT))


@pytest.mark.parametrize(
    ("after", "words"),
    [
        (state(), []),
        (state(size=2), ["a: size: 1 -> 2"]),
        (state(output="y"), ['output o: "x" -> "y"']),
        (state(template={}), ["the stack has another template"]),
    ],
)
def test_differences_name_what_is_not_restored(after: StackState, words: list[str]) -> None:
    found = compared(state(), after)
    assert (found.others, found.made_again) == (tuple(words), ())


def test_another_object_explains_its_id_elsewhere() -> None:
    found = compared(state(output="at 1"), state(physical_id="2", output="at 2"))
    assert found.made_again == ("a: 2, was 1",)
    assert found.others == ()


@pytest.mark.parametrize("as_text", [True, False])
def test_failure_comes_after_all_resources(as_text: bool) -> None:
    template: Any = json.dumps(HOT) if as_text else HOT
    changed = json.loads(with_failure({"template": template})["template"])
    assert changed["resources"][FAILURE]["depends_on"] == ["a"]
    assert changed["resources"]["a"] == {"type": "T"}


def test_failure_fits_templates_of_cloudformation() -> None:
    template = "AWSTemplateFormatVersion: '2010-09-09'\nResources: {A: {Type: T}}\n"
    changed = json.loads(with_failure({"template": template})["template"])
    wanted = changed["Resources"][FAILURE]
    assert wanted["Properties"] == {"fail": True}
    assert wanted["DependsOn"] == ["A"]


@pytest.mark.parametrize(
    ("seconds", "why", "ended", "removed", "words"),
    [
        (0.0, "", True, False, "web 10.0.0.5: no interruption"),
        (1.2, "replaced", True, False, "web 10.0.0.5: interrupted 1.2 s (replaced)"),
        (3.0, "", False, False, "web 10.0.0.5: interrupted, and not back after 3.0 s"),
        (3.0, "deleted", False, True, "web 10.0.0.5: removed (deleted)"),
    ],
)
def test_interruption_in_words(
    seconds: float, why: str, ended: bool, removed: bool, words: str
) -> None:
    found = Interruption("web", "fixed address", "10.0.0.5", seconds, why, ended, removed)
    assert str(found) == words
