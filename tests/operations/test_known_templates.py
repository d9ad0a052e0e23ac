"""The template of an update that is that of the stack already is not parsed again."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from stoker.engine.model.requests import StackRequest
from stoker.engine.service.requests.inputs import input_of
from stoker.template.document import Template, parse

TEXT = """\
heat_template_version: 2021-04-16
resources: {a: {type: OS::Heat::None, properties: {x: 1}}}
"""
DATA: Mapping[str, Any] = {
    "heat_template_version": "2021-04-16",
    "resources": {"a": {"type": "OS::Heat::None", "properties": {"x": 1}}},
}
LOOPS = """\
AWSTemplateFormatVersion: 2010-09-09
Transform: AWS::LanguageExtensions
Resources: {"Fn::ForEach::l": [N, [a], {"R${N}": {Type: OS::Heat::None}}]}
"""


def used(known: Template, template: Any, **request: Any) -> Template:
    """Return the template of an update."""
    body = StackRequest(template=template, **request)
    return input_of("input", "stack", body, None, known)[1].template


def test_same_text_is_used_again() -> None:
    known = parse(TEXT)
    assert used(known, TEXT) is known


@pytest.mark.parametrize(
    ("known", "template"),
    [
        (TEXT, TEXT.replace("x: 1", "x: 2")),
        (TEXT, TEXT.replace("x: 1", "x: 1.0")),
        (TEXT, DATA),
        (DATA, TEXT),
        (DATA, {**DATA, "description": "x"}),
        (DATA, {key: DATA[key] for key in reversed(DATA)}),
    ],
    ids=["value", "type", "data", "text", "section", "order"],
)
def test_other_template_is_parsed(known: Any, template: Any) -> None:
    found = used(parse(known), template)
    assert found.source.data == parse(template).source.data
    assert list(found.source.data) == list(parse(template).source.data)
    assert found.source.text == (template if isinstance(template, str) else None)


def test_same_text_in_another_file_is_parsed() -> None:
    known = parse(TEXT)
    assert used(known, TEXT, template_file="http://x.test/a.yaml") is not known


def test_template_with_loops_is_parsed() -> None:
    known = parse(LOOPS)
    assert used(known, LOOPS) is not known
