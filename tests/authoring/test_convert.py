"""``stoker convert``: the converted template means the same."""

from __future__ import annotations

from collections.abc import Iterator
from copy import deepcopy
from pathlib import Path
from typing import Any

import pytest
import yaml

from stoker.cli.arguments.files import Bundle
from stoker.cli.authoring.conversion.to_cloudformation import to_cloudformation
from stoker.cli.authoring.conversion.to_hot import to_hot
from stoker.cli.authoring.conversion.writing import as_yaml
from stoker.cli.authoring.discovery import DocumentKind, kind_of_document
from stoker.cli.offline_template import OfflineTemplate
from stoker.kernel.diagnostics import DiagnosticError
from stoker.sandbox.sandbox import Sandbox
from stoker.template.evaluate.static_analysis import RecordedReferences
from stoker.template.source.source import read
from tests.authoring.test_schemas import accepted_templates
from tests.cli.conftest import EXAMPLES, stoker

# Recorded cases with a difference that is not worth a warning: a selection from null or from a text
# with JSON, a default that breaks its own constraint, a parameter named like a pseudo parameter.
DIFFERENT = {
    "cfn_functions-097-select-json-string-prop.yaml",
    "hot_misc_functions-044-str-split-val-null-prop.yaml",
    "parameters-180-badcons-two-in-one.yaml",
    "parameters-210-decl-os-prefix.yaml",
}


@pytest.fixture(scope="module")
def helpers() -> Iterator[Sandbox]:
    sandbox = Sandbox(size=1)
    yield sandbox
    sandbox.close()


def meaning(text: str, helpers: Sandbox) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the definitions of the resources, and the outputs without those that fail."""
    offline = OfflineTemplate.of(Bundle(text, "template"), {}, helpers)
    evaluation, facts = offline.evaluation(None), RecordedReferences()
    definitions = {}
    for name in evaluation.names:
        found = evaluation.definition(name, facts)
        definitions[name] = (
            found.type_name,
            repr(found.properties),
            repr(found.metadata),
            found.dependencies,
            found.deletion_policy,
        )
    outputs = evaluation.outputs(facts)
    return definitions, {each.name: each.value for each in outputs if each.error is None}


def converted(text: str) -> tuple[str, int]:
    data = read(text).data
    is_hot = kind_of_document(data) is DocumentKind.HOT
    result = to_cloudformation(data, {}) if is_hot else to_hot(data)
    return as_yaml(result.data), len(result.losses)


def test_recorded_templates_mean_the_same(helpers: Sandbox) -> None:
    equal = 0
    for name, template in accepted_templates():
        try:
            before = meaning(template, helpers)
        except DiagnosticError:
            continue  # it needs files or parameters
        text, losses = converted(template)
        if losses or name in DIFFERENT:
            continue
        try:
            after = meaning(text, helpers)
        except DiagnosticError as error:
            pytest.fail(f"{name}: {error}")
        assert after[0] == before[0], name
        both = before[1].keys() & after[1].keys()
        assert {key: after[1][key] for key in both} == {key: before[1][key] for key in both}, name
        equal += 1
    assert equal > 300


def test_template_survives_both_directions(helpers: Sandbox) -> None:
    text = (EXAMPLES / "hello.yaml").read_text()
    there, losses = converted(text)
    back, others = converted(there)
    assert losses == others == 0
    assert meaning(back, helpers) == meaning(text, helpers)


HOT = """
heat_template_version: 2021-04-16
parameters:
  n: {type: number, default: 1, hidden: true, constraints: [{range: {min: 1, max: 3}}]}
conditions:
  one: {equals: [{get_param: n}, 1]}
resources:
  a:
    type: OS::Heat::Value
    condition: {not: one}
    properties: {value: {if: [{or: [one, {equals: [{get_param: n}, 2]}]}, x]}}
  b: {type: OS::Heat::Value, deletion_policy: retain, properties: {value: {yaql: {expression: 1}}}}
"""


def test_conditions_in_place_get_names() -> None:
    data = yaml.safe_load(converted(HOT)[0])
    assert data["Conditions"] == {
        "one": {"Fn::Equals": [{"Ref": "n"}, 1]},
        "Condition2": {"Fn::Not": [{"Condition": "one"}]},
        "Condition3": {"Fn::Or": [{"Condition": "one"}, {"Fn::Equals": [{"Ref": "n"}, 2]}]},
    }
    assert data["Resources"]["a"]["Condition"] == "Condition2"
    assert data["Resources"]["a"]["Properties"]["value"] == {
        "Fn::If": ["Condition3", "x", {"Ref": "AWS::NoValue"}]
    }
    assert data["Parameters"]["n"] == {
        "Type": "Number", "Default": 1, "NoEcho": True, "MinValue": 1, "MaxValue": 3,
    }  # fmt: skip
    assert data["Resources"]["b"]["DeletionPolicy"] == "Retain"


CFN = """
AWSTemplateFormatVersion: 2010-09-09
Parameters:
  Stage: {Type: String, Default: test}
  Names: {Type: CommaDelimitedList, Default: "a,b"}
Mappings: {Sizes: {test: {disk: 1}}}
Resources:
  A:
    Type: OS::Heat::Value
    Properties:
      value: !Sub "${Stage}-${!literal}-${Own}-${AWS::StackName}"
  B: {Type: OS::Heat::Value, Properties: {value: !Select [1, !Ref Names]}}
  C: {Type: OS::Heat::Value, Properties: {value: !FindInMap [Sizes, !Ref Stage, disk]}}
"""


def test_substitutions_mappings_and_selections_are_converted(helpers: Sandbox) -> None:
    text, losses = converted(
        CFN.replace('!Sub "', '!Sub ["').replace('"\n  B', '", {Own: o}]\n  B')
    )
    assert losses == 0
    definitions = meaning(text, helpers)[0]
    assert "'test-${literal}-o-stack'" in definitions["A"][1]
    assert "'b'" in definitions["B"][1]
    assert "1" in definitions["C"][1]


def test_losses_are_listed_with_their_lines(tmp_path: Path) -> None:
    path = tmp_path / "app.yaml"
    path.write_text(HOT)
    done = stoker("convert", str(path))
    assert done.exit_code == 0
    assert "app.yaml:12:" in done.stderr
    assert "CloudFormation has no function like yaql" in done.stderr
    assert "Fn::Equals" in done.stdout
    strict = stoker("convert", str(path), "--strict", "--output", str(tmp_path / "out"))
    assert strict.exit_code == 2
    assert not (tmp_path / "out").exists()


COMPOSE = """
services:
  db:
    image: postgres:16
    environment: {POSTGRES_PASSWORD: "${DB_PASSWORD}"}
    volumes: [data:/var/lib/postgresql/data]
  web:
    image: nginx:${TAG:-1.27}
    ports: ["8080:80"]
    environment: ["PRICE=$$5"]
    depends_on: {db: {condition: service_started}}
    command: ["nginx", "-g", "daemon off;"]
  worker: {build: .}
volumes: {data: {}}
"""


def test_services_of_compose_become_servers(tmp_path: Path) -> None:
    (tmp_path / "compose.yaml").write_text(COMPOSE)
    done = stoker("convert", str(tmp_path / "compose.yaml"), "--output", str(tmp_path / "app.yaml"))
    assert done.exit_code == 0, done.output
    assert "a server cannot build an image" in done.stderr
    (tmp_path / "app.test.yaml").write_text(
        """
        parameters: {DB_PASSWORD: geheim}
        cloud: {attributes: {db_port: {fixed_ips: [{ip_address: 10.0.0.9}]}}}
        tests:
          - expect:
              count: {OS::Nova::Server: 2, OS::Cinder::Volume: 1, OS::Neutron::FloatingIP: 1}
              resources:
                db_attachment_data: {properties: {volume_id: {$resource: data_volume}}}
                web_floating_ip: {properties: {port_id: {$resource: web_port}}}
                web:
                  properties:
                    user_data:
                      $contains: "--add-host db:10.0.0.9 \\\\\\n  \\"nginx:${v_TAG:-1.27}\\" \
nginx -g 'daemon off;'"
          - parameters: {TAG: latest}
            expect:
              resources: {web: {properties: {user_data: {$contains: "v_TAG='latest'"}}}}
        """
    )
    tests = stoker("test", str(tmp_path))
    assert tests.exit_code == 0, tests.output
    lint = stoker("lint", "--strict", str(tmp_path / "app.yaml"))
    assert lint.exit_code == 0, lint.output


def test_other_documents_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "x.yaml"
    path.write_text("a: 1\n")
    done = stoker("convert", str(path))
    assert done.exit_code == 2
    assert "no Compose file" in done.output


CALLS = """
AWSTemplateFormatVersion: "2010-09-09"
Metadata:
  "AWS::CloudFormation::Interface": {ParameterGroups: [{Label: {default: a}, Parameters: [R]}]}
Parameters: {R: {Type: String, Default: a, AllowedValues: [a], MinLength: 1}}
Mappings: {M: {a: {b: c}}}
Conditions: {A: {"Fn::Equals": [{Ref: R}, a]}, B: {"Fn::Not": [{Condition: A}]}}
Resources:
  V:
    Condition: A
    Type: OS::Heat::Value
    DependsOn: [W]
    Properties:
      value:
        a: {"Fn::Sub": ["${x}-${R }-${!x}", {x: {"Fn::Select": [0, {"Fn::Split": [",", a]}]}}]}
        b: {"Fn::If": [A, {"Fn::Join": ["", [a, {Ref: R}]]}, {Ref: "AWS::NoValue"}]}
        c: {"Fn::FindInMap": [M, a, b]}
        d: {"Fn::Replace": [{x: y}, x]}
        e: {"Fn::GetAtt": [W, value]}
  W: {Type: OS::Heat::Value, Condition: A, Properties: {value: 1}}
Outputs: {O: {Value: {"Fn::Length": [1]}, Condition: A}}
"""
WRONG: tuple[Any, ...] = (None, "x", 5, [], [1], {"a": 1}, [[]], {"Ref": "R"}, {"get_param": "R"})


def places_in(data: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    entries = data.items() if isinstance(data, dict) else ()
    for key, value in enumerate(data) if isinstance(data, list) else entries:
        yield (*path, key)
        yield from places_in(value, (*path, key))


@pytest.mark.parametrize("dialect", ["cfn", "hot"])
def test_wrong_values_are_reported_or_kept(dialect: str) -> None:
    data = read(CALLS).data
    if dialect == "hot":
        data = to_hot(data).data
    for *above, last in places_in(data):
        for wrong in WRONG:
            changed = deepcopy(data)
            place = changed
            for key in above:
                place = place[key]
            place[last] = wrong
            made = to_cloudformation(changed, {}) if dialect == "hot" else to_hot(changed)
            assert made.data


def test_spaces_in_substitutions_are_ignored(helpers: Sandbox) -> None:
    text, losses = converted(CALLS)
    assert losses == 0
    definitions, _ = meaning(text, helpers)
    assert "'a': 'a-a-${x}'" in definitions["V"][1]
