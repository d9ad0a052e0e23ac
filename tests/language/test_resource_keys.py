"""The keys of a resource, and their allowed values."""

from __future__ import annotations

from typing import Any

import pytest

from stoker.kernel.diagnostics import DiagnosticError, Severity
from stoker.resources.base.registry import Registry
from stoker.template.document import parse
from stoker.template.evaluate.evaluation import Evaluation
from stoker.template.evaluate.inputs import Inputs
from stoker.template.evaluate.validation import as_template_diagnostics

KEYS = [
    "properties",
    "metadata",
    "depends_on",
    "deletion_policy",
    "update_policy",
    "external_id",
    "description",
]


def refusal(key: str, value: Any) -> tuple[str, Any, str | None]:
    body = {"type": "OS::Heat::None", key: value}
    with pytest.raises(DiagnosticError) as caught:
        parse({"heat_template_version": "2021-04-16", "resources": {"r": body}})
    found = caught.value.first
    return found.code, found.path, found.suggestion


@pytest.mark.parametrize("key", KEYS)
def test_empty_key_is_refused_with_advice(key: str) -> None:
    assert refusal(key, None) == ("bad-shape", ("resources", "r", key), f'leave "{key}" out')


@pytest.mark.parametrize("value", [5, ["a"], True])
def test_external_id_that_is_no_text_is_refused(value: Any) -> None:
    assert refusal("external_id", value)[0] == "bad-shape"


@pytest.mark.parametrize("name", [["r"], {"get_resource": "r"}])
def test_dependency_without_name_is_a_bad_request(name: Any) -> None:
    body = {"type": "OS::Heat::None", "depends_on": [name]}
    with pytest.raises(DiagnosticError) as caught:
        parse({"heat_template_version": "2021-04-16", "resources": {"r": body}})
    found = caught.value.first
    assert (found.error_type.name, found.path[-2:]) == ("HTTPBadRequest", ("depends_on", 0))


def test_external_id_from_a_function_must_be_text() -> None:
    body = {"type": "OS::Heat::None", "external_id": {"get_param": "n"}}
    parameters = {"n": {"type": "number", "default": 5}}
    template = {
        "heat_template_version": "2021-04-16",
        "parameters": parameters,
        "resources": {"r": body},
    }
    found = Evaluation(parse(template), Inputs(), Registry()).validate()
    assert [d.path for d in found] == [("resources", "r", "external_id")]


@pytest.mark.parametrize(
    ("type_name", "severity"),
    [
        ("OS::Heat::TestResource", Severity.ERROR),
        ("OS::Heat::Stack", Severity.ERROR),
        ("OS::Heat::None", Severity.WARNING),
    ],
)
@pytest.mark.parametrize("key", ["deletion_policy", "update_policy"])
def test_unsupported_policy_is_refused_unless_type_accepts_any(
    type_name: str, severity: Severity, key: str
) -> None:
    body: dict[str, Any] = {"type": type_name}
    body[key] = "Snapshot" if key == "deletion_policy" else {"a": 1}
    if type_name == "OS::Heat::Stack":
        body["properties"] = {"template": '{"heat_template_version": "2021-04-16"}'}
    template = {"heat_template_version": "2021-04-16", "resources": {"r": body}}
    found = Evaluation(parse(template), Inputs(), Registry()).validate()
    assert [(d.path[2], d.severity) for d in found] == [(key, severity)]
    assert [d.severity for d in as_template_diagnostics(found)] == [Severity.ERROR]
