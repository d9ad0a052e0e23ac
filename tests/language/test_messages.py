"""Messages for common mistakes: the fault, its position, and the remedy."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
import yaml
from tests.evaluating import with_helpers

from stoker.kernel.diagnostics import DiagnosticError
from stoker.resources.base.registry import Registry
from stoker.template.document import parse
from stoker.template.environment.environment import parse_environment
from stoker.template.evaluate.evaluation import Evaluation
from stoker.template.evaluate.validation import as_template_diagnostics
from stoker.template.source.source import read


@dataclass(frozen=True)
class Mistake:
    name: str
    template: str
    messages: list[str]
    parameters: Mapping[str, Any] = field(default_factory=dict)
    environment: Mapping[str, Any] = field(default_factory=dict)
    files: Mapping[str, str] = field(default_factory=dict)


TABLE = Path(__file__).parent / "mistakes.yaml"
MISTAKES = [Mistake(**row) for row in yaml.safe_load(TABLE.read_text(encoding="utf-8"))]


def _messages(mistake: Mistake, types: Registry) -> list[str]:
    try:
        inputs = with_helpers(
            parameters=mistake.parameters,
            environment=parse_environment(mistake.environment),
            files=mistake.files,
        )
        template = parse(read(mistake.template, "stack.yaml"))
        return [str(found) for found in Evaluation(template, inputs, types).validate()]
    except DiagnosticError as error:
        return [str(found) for found in error.diagnostics]


@pytest.fixture(scope="module")
def types() -> Registry:
    return Registry()


@pytest.mark.parametrize("mistake", MISTAKES, ids=lambda mistake: mistake.name)
def test_a_mistake_is_explained(mistake: Mistake, types: Registry) -> None:
    assert _messages(mistake, types) == mistake.messages


@pytest.mark.parametrize(
    ("call", "words"),
    [
        ({"if": [True]}, 'Arguments to "if" must be of the form: [condition'),
        ({"yaql": "x"}, 'Arguments to "yaql" must be a map'),
        ({"repeat": "x"}, 'Arguments to "repeat" must be a map'),
        ({"str_replace": "x"}, 'Arguments to "str_replace" must be a map'),
        ({"str_replace_strict": "x"}, 'Arguments to "str_replace_strict" must be a map'),
        ({"contains": "x"}, 'Arguments to "contains" must be of the form: [value'),
        ({"list_concat": ["x"]}, None),
    ],
)
def test_malformed_calls_are_reported_in_heats_words(call: Any, words: str | None) -> None:
    template = {
        "heat_template_version": "2021-04-16",
        "resources": {"a": {"type": "OS::Heat::Value", "properties": {"value": call}}},
    }
    found = Evaluation(parse(template), with_helpers(), Registry()).validate().errors[0].message
    assert found.startswith("Arguments to ") == (words is not None)
    assert words is None or found.startswith(words)


@pytest.mark.parametrize(
    ("member", "refused"),
    [
        ({"type": "OS::Heat::Valu"}, True),
        ({"type": "OS::Neutron::LoadBalancer"}, True),
        ({"type": "nowhere.yaml"}, True),
        ({"type": "OS::Heat::Value", "properties": {"value": {"get_file": "nowhere"}}}, False),
        ({"type": "OS::Heat::RandomString", "properties": {"length": "many"}}, False),
    ],
)
def test_template_is_refused_for_unknown_member_types_only(member: Any, refused: bool) -> None:
    group = {"type": "OS::Heat::ResourceGroup", "properties": {"resource_def": member}}
    template = parse({"heat_template_version": "2021-04-16", "resources": {"group": group}})
    found = as_template_diagnostics(Evaluation(template, with_helpers(), Registry()).validate())
    assert len(found) == 1
    assert bool(found.errors) == refused


def test_key_longer_than_yaml_allows_is_reported(types: Registry) -> None:
    text = f"heat_template_version: 2021-04-16\nresources:\n  {'k' * 1025}: {{}}\n"
    [message] = _messages(Mistake("a long key", text, []), types)
    assert message.startswith("stack.yaml:3:3: the text is not valid YAML: this key has more than")
