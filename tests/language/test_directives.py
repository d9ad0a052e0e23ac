"""Directives to the service in the metadata of resources."""

from __future__ import annotations

from typing import Any

import pytest

from stoker.kernel.diagnostics import DiagnosticError
from stoker.resources.base.registry import Registry
from stoker.template.document import parse
from stoker.template.evaluate.evaluation import Evaluation
from stoker.template.evaluate.inputs import Inputs

HOT = {"heat_template_version": "2021-04-16"}


def evaluated(template: dict[str, Any]) -> Evaluation:
    return Evaluation(parse(template), Inputs(), Registry())


def hot(metadata: Any) -> dict[str, Any]:
    return {**HOT, "resources": {"r": {"type": "OS::Heat::None", "metadata": metadata}}}


def test_resource_does_not_see_its_directives() -> None:
    found = evaluated(hot({"stoker": {"moved_from": "old"}, "own": 1}))
    assert found.moves == {"r": "old"}
    analysis = found.analyses["r"].definition
    assert analysis is not None
    assert analysis.metadata == {"own": 1}


def test_cloudformation_template_has_directives() -> None:
    metadata = {"stoker": {"moved_from": "old"}}
    body = {"Type": "OS::Heat::None", "Metadata": metadata}
    found = evaluated({"AWSTemplateFormatVersion": "2010-09-09", "Resources": {"r": body}})
    assert found.moves == {"r": "old"}


@pytest.mark.parametrize("chosen", [True, False, None])
def test_resource_chooses_express(chosen: bool | None) -> None:
    metadata = {} if chosen is None else {"stoker": {"express": chosen}}
    analysis = evaluated(hot(metadata)).analyses["r"].definition
    assert analysis is not None
    assert (analysis.express, analysis.metadata) == (chosen, {})


def test_disabled_resource_is_not_moved() -> None:
    template = hot({"stoker": {"moved_from": "old"}})
    template["conditions"] = {"never": False}
    template["resources"]["r"]["condition"] = "never"
    assert evaluated(template).moves == {}


@pytest.mark.parametrize(
    ("directives", "path", "suggestion"),
    [
        ("old", (), None),
        ({"move_from": "old"}, ("move_from",), 'did you mean "moved_from"?'),
        ({"moved_from": ["old"]}, ("moved_from",), None),
        ({"moved_from": {"get_param": "p"}}, ("moved_from",), None),
        ({"moved_from": ""}, ("moved_from",), None),
        ({"import": 5}, ("import",), None),
        ({"express": "yes"}, ("express",), None),
        ({"express": None}, ("express",), None),
        ({"express": {"get_param": "p"}}, ("express",), None),
        ({"import": "id", "moved_from": "old"}, ("import",), None),
    ],
)
def test_bad_directive_is_refused(
    directives: Any, path: tuple[str, ...], suggestion: str | None
) -> None:
    with pytest.raises(DiagnosticError) as caught:
        parse(hot({"stoker": directives}))
    found = caught.value.first
    assert found.path == ("resources", "r", "metadata", "stoker", *path)
    assert found.suggestion == suggestion
