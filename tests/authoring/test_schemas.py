"""``stoker schema``: JSON Schemas accept every valid document, and find common mistakes."""

from __future__ import annotations

import json
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import yaml
from jsonschema_rs import Draft7Validator

from stoker.cli.authoring.discovery import kind_of_document
from stoker.kernel.diagnostics import DiagnosticError
from stoker.template.source.source import read
from tests.cli.conftest import EXAMPLES, stoker

CASES = Path(__file__).parents[1] / "conformance/cases"
HOT = "heat_template_version: 2021-04-16\n"


@cache
def validator(*arguments: str) -> Draft7Validator:
    done = stoker("schema", *arguments)
    assert done.exit_code == 0, done.output
    return Draft7Validator(json.loads(done.stdout))


def faults(text: str, *arguments: str) -> list[str]:
    """Return the places of faults in a document."""
    data = json.loads(json.dumps(read(text).data))
    errors = validator(*arguments or ("hot",)).iter_errors(data)
    return [".".join(map(str, error.instance_path)) for error in errors]


def accepted_templates() -> Iterator[tuple[str, str]]:
    """Yield the templates of recorded cases that Heat has accepted."""
    for path in sorted(CASES.glob("*/*.yaml")):
        case = yaml.load(path.read_text(), Loader=yaml.CSafeLoader)
        steps = zip(case["request"]["steps"], case["expect"]["steps"], strict=False)
        for step, expected in steps:
            template = step.get("template")
            maps_types = "resource_registry" in str(step)  # a schema does not know environments
            is_complete = expected.get("stack_status") == "CREATE_COMPLETE"
            if isinstance(template, str) and is_complete and not maps_types:
                yield path.name, template


def test_recorded_templates_are_accepted() -> None:
    count = 0
    for name, template in accepted_templates():
        try:
            kind = kind_of_document(read(template).data)
        except DiagnosticError:
            continue
        if kind is not None:
            assert faults(template, str(kind)) == [], name
            count += 1
    assert count > 300


def test_examples_are_accepted() -> None:
    for path in sorted(EXAMPLES.glob("**/*.yaml")):
        if path.name.endswith(".test.yaml"):
            assert faults(path.read_text(), "test") == [], path
            continue
        kind = kind_of_document(read(path.read_text()).data)
        if kind is not None:
            assert faults(path.read_text(), str(kind)) == [], path


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ("resource: {}", ""),
        ("resources: {a: {typ: OS::Heat::None}}", "resources.a"),
        (
            "resources: {a: {type: OS::Nova::Server, properties: {flavour: x}}}",
            "resources.a.properties",
        ),
        ("parameters: {a: {type: strng}}", "parameters.a.type"),
        (
            "parameters: {a: {type: string, constraints: [{rang: 1}]}}",
            "parameters.a.constraints.0",
        ),
        ("outputs: {a: {}}", "outputs.a"),
        (
            "resources: {a: {type: OS::Neutron::Subnet, properties: {ip_version: 5}}}",
            "resources.a.properties",
        ),
    ],
)
def test_mistakes_in_templates_are_found(text: str, place: str) -> None:
    assert any(each.startswith(place) for each in faults(HOT + text))


def test_template_without_a_version_is_found() -> None:
    assert faults("resources: {}") != []


def test_functions_of_later_versions_are_found() -> None:
    text = """
        heat_template_version: 2015-10-15
        resources:
          a: {type: OS::Neutron::Port, properties: {network: {if: [a, b, c]}}}
    """
    assert faults(text) == []
    assert faults(text, "hot", "--version", "2015-10-15") != []


def test_mistakes_in_environments_are_found() -> None:
    assert faults("parameter: {a: 1}", "environment") != []
    assert faults("parameters: {a: 1}", "environment") == []


def test_properties_are_described() -> None:
    schema: dict[str, Any] = json.loads(stoker("schema", "hot").stdout)
    server = schema["definitions"]["OS::Nova::Server"]["anyOf"][0]["properties"]
    assert "Required." in server["flavor"]["description"]
    assert schema["definitions"]["OS::Heat::CWLiteAlarm"]["deprecated"]


def test_schemas_are_written_into_a_directory(tmp_path: Path) -> None:
    done = stoker("schema", "--output", str(tmp_path / "schemas"))
    assert done.exit_code == 0
    names = {path.name for path in (tmp_path / "schemas").iterdir()}
    assert names == {f"{kind}.schema.json" for kind in ("hot", "cfn", "environment", "test")}


def test_unknown_version_is_refused() -> None:
    done = stoker("schema", "hot", "--version", "2020-01-01")
    assert done.exit_code == 2
    assert 'there is no version "2020-01-01" of hot; there are 2013-05-23' in done.output
