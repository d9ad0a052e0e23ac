"""``stoker validate``: findings for people, programs and editors, without a service."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from stoker.resources.base.builtin_types import built_in
from stoker.resources.base.heat_catalog import declarations
from tests.cli.conftest import EXAMPLES, stoker

HEAT_TYPES = Path(__file__).parent / "heat_types.txt"  # names of all types of Heat 27

BAD = """heat_template_version: 2018-08-31
parameters:
  size: {type: numbr}
resources:
  a:
    type: OS::Heat::RandomStrin
"""


@pytest.fixture
def bad(tmp_path: Path) -> Path:
    path = tmp_path / "bad.yaml"
    path.write_text(BAD)
    return path


@pytest.mark.parametrize("name", ["web-app.yaml", "failing-app.yaml"])
def test_the_examples_are_good(name: str) -> None:
    done = stoker("validate", str(EXAMPLES / name))
    assert (done.exit_code, done.output) == (0, f"{EXAMPLES / name}: OK\n")


def test_findings_look_like_those_of_a_compiler(bad: Path) -> None:
    done = stoker("validate", str(bad))
    assert done.exit_code == 2
    assert f"{bad}:3:10: error: parameters.size.type:" in done.output
    assert (
        f"{bad}:6:5: error: resources.a.type: The Resource Type (OS::Heat::RandomStrin) could"
        ' not be found. (did you mean "OS::Heat::RandomString"?)\n'
        "    6 |     type: OS::Heat::RandomStrin\n"
        "            ^\n"
    ) in done.output
    assert done.output.endswith("2 errors\n")


def test_json_has_every_finding_with_its_place(bad: Path) -> None:
    done = stoker("validate", "--format", "json", str(bad))
    found = json.loads(done.output)
    assert [(f["file"], f["line"], f["severity"]) for f in found] == [
        (str(bad), 3, "error"),
        (str(bad), 6, "error"),
    ]


def test_sarif_has_results_with_regions(bad: Path) -> None:
    run = json.loads(stoker("validate", "--format", "sarif", str(bad)).output)["runs"][0]
    assert run["tool"]["driver"]["name"] == "stoker"
    region = run["results"][1]["locations"][0]["physicalLocation"]["region"]
    assert region == {"startLine": 6, "startColumn": 5}
    assert {rule["id"] for rule in run["tool"]["driver"]["rules"]} >= {"unknown-type"}


def test_several_templates_are_checked_in_one_go(bad: Path) -> None:
    done = stoker("validate", str(EXAMPLES / "web-app.yaml"), str(bad))
    assert done.exit_code == 2


def test_unfetchable_template_is_reported_once(tmp_path: Path) -> None:
    template = tmp_path / "main.yaml"
    nowhere = "http://127.0.0.1:9/nowhere.yaml"
    template.write_text(f"heat_template_version: rocky\nresources: {{a: {{type: {nowhere}}}}}\n")
    done = stoker("validate", str(template))
    assert f"{nowhere} cannot be fetched: Connection refused" in done.output
    assert done.output.endswith("\n1 error\n")


def test_a_missing_file_does_not_hide_other_findings(bad: Path) -> None:
    bad.write_text(BAD + "  b: {type: OS::Heat::Value, properties: {value: {get_file: nothing}}}\n")
    done = stoker("validate", str(bad))
    assert "there is no file" in done.output
    assert "could not be found" in done.output


@pytest.mark.parametrize(
    "nesting",
    [
        "{type: nested.yaml}",
        "{type: OS::Heat::Stack, properties: {template: {get_file: nested.yaml}}}",
    ],
)
def test_unreadable_nested_template_is_named_with_line(tmp_path: Path, nesting: str) -> None:
    template, nested = tmp_path / "main.yaml", tmp_path / "nested.yaml"
    template.write_text(f"heat_template_version: 2018-08-31\nresources:\n  a: {nesting}\n")
    nested.write_text("heat_template_version: 2018-08-31\n\n\n\nresources:\n  - a\n  b\n")
    done = stoker("validate", str(template))
    assert f"{nested}:7:3: error: resources.a." in done.output
    assert "    7 |   b\n" in done.output


def test_values_are_checked_where_they_are_given(tmp_path: Path) -> None:
    template = tmp_path / "sized.yaml"
    template.write_text(
        "heat_template_version: 2018-08-31\n"
        "parameters: {size: {type: number, constraints: [{range: {max: 5}}]}}\n"
    )
    assert stoker("validate", str(template)).exit_code == 0
    assert stoker("validate", str(template), "-P", "size=4").exit_code == 0
    assert stoker("validate", str(template), "-P", "size=6").exit_code == 2


def test_findings_in_environments_name_the_environment(tmp_path: Path) -> None:
    template, environment = tmp_path / "main.yaml", tmp_path / "env.yaml"
    template.write_text("heat_template_version: 2018-08-31\n")
    environment.write_text("parameters: {}\nparamters: {}\n")
    done = stoker("validate", str(template), "-e", str(environment))
    assert done.exit_code == 2
    assert f"{environment}:2:1: error:" in done.output
    assert 'did you mean "parameters"?' in done.output


def test_wrong_value_is_reported_at_its_environment(tmp_path: Path) -> None:
    template = tmp_path / "main.yaml"
    template.write_text("heat_template_version: 2018-08-31\nparameters: {size: {type: number}}\n")
    first, second = tmp_path / "first.yaml", tmp_path / "second.yaml"
    first.write_text("parameters:\n  sise: 1\n  size: x\n")
    second.write_text("parameter_defaults:\n  size: y\n")
    files = ("-e", str(first), "-e", str(second))
    done = stoker("validate", str(template), *files)
    assert (
        f"{first}:2:3: error: parameters.sise: The Parameter (sise) was not defined" in done.output
    )
    assert f'{first}:3:3: error: parameters.size: "x" is not a number' in done.output
    done = stoker("validate", str(template), *files, "-P", "size=z")
    assert f'{template}:2:14: error: parameters.size: "z" is not a number' in done.output


def test_broken_output_does_not_hide_bad_references(tmp_path: Path) -> None:
    template = tmp_path / "main.yaml"
    template.write_text(
        "heat_template_version: 2018-08-31\n"
        "resources:\n  a: {type: OS::Heat::None, depends_on: b}\n"
        "outputs:\n  x: {values: 1}\n"
    )
    output = stoker("validate", str(template)).output
    assert 'main.yaml:5:3: error: outputs.x: an output needs "value"' in output
    assert 'The specified reference "b" (in a) is incorrect' in output


def test_missing_file_is_reported_in_one_sentence(tmp_path: Path) -> None:
    done = stoker("validate", str(tmp_path / "no.yaml"))
    assert done.exit_code == 2
    assert done.output == f'stoker: there is no file "{tmp_path}/no.yaml"\n'


def checked(tmp_path: Path, text: str, *options: str) -> tuple[int, list[tuple[str, str, int]]]:
    """The exit code; severity, code and line of all findings."""
    template = tmp_path / "main.yaml"
    template.write_text("heat_template_version: 2018-08-31\n" + text)
    done = stoker("validate", "--format", "json", str(template), *options)
    found = json.loads(done.output)
    return done.exit_code, [(f["severity"], f["code"], f["line"]) for f in found]


@pytest.mark.parametrize(
    "resource",
    [
        "{type: OS::Heat::RandomString, properties: {length: 10000}}",
        "{type: OS::Heat::RandomString, properties: {length: long}}",
        "{type: OS::Neutron::Port, properties: {name: x}}",
        "{type: OS::Cinder::Volume, properties: {size: big}}",
    ],
    ids=["out of range", "of the wrong type", "missing", "of a type that cannot be deployed yet"],
)
@pytest.mark.parametrize("parameters", ["", "parameters: {later: {type: string}}\n"])
def test_values_that_a_deployment_would_refuse_are_errors(
    tmp_path: Path, resource: str, parameters: str
) -> None:
    exit_code, found = checked(tmp_path, f"{parameters}resources:\n  a: {resource}\n")
    assert exit_code == 2
    assert ("error", 3 + bool(parameters)) in [(severity, line) for severity, _, line in found]


CONDITIONAL = """
parameters:
  kind: {type: string}
  size: {type: number}
  names: {type: comma_delimited_list}
conditions:
  large: {equals: [{get_param: kind}, large]}
resources:
  a: {type: OS::Heat::RandomString, condition: large}
  b: {type: OS::Heat::RandomString, properties: {length: {if: [large, {get_param: size}, 9]}}}
  c:
    type: OS::Heat::Value
    properties:
      value: {repeat: {for_each: {"%": {get_param: names}}, template: "%"}}
outputs:
  a: {value: {get_resource: a}, condition: large}
"""


def test_missing_parameter_values_are_assumed_valid(tmp_path: Path) -> None:
    assert checked(tmp_path, CONDITIONAL) == (0, [])


def test_what_a_condition_may_avoid_is_a_warning(tmp_path: Path) -> None:
    text = CONDITIONAL.replace("{get_param: size}, 9", "1000, 9")
    assert checked(tmp_path, text) == (0, [("warning", "constraint-violated", 11)])


def test_every_type_of_heat_is_known(tmp_path: Path) -> None:
    code, found = checked(
        tmp_path,
        "resources:\n"
        "  v: {type: OS::Mistral::ExternalResource, properties: {actions: {}}}\n"
        "  w: {type: OS::Heat::SoftwareDeployment, properties: {server: s, confg: c}}\n"
        "  x: {type: OS::Neutron::LoadBalancer, properties: {vip: 1}}\n"
        "outputs:\n"
        "  o: {value: {get_attr: [w, deploy_stdout]}}\n"
        "  p: {value: {get_attr: [v, sise]}}\n",
    )
    assert code == 2
    assert found == [
        ("error", "unknown-property", 4),
        ("error", "withdrawn-type", 5),
        ("error", "unknown-attribute", 8),
    ]
    older = {"OS::Heat::SoftwareDeployments", "OS::Heat::StructuredDeployments"}  # hidden names
    older |= {"OS::Nova::FloatingIP", "OS::Nova::FloatingIPAssociation"}
    older |= {"OS::Neutron::RouterGateway"}
    assert {*declarations()} | {*built_in()} == {*HEAT_TYPES.read_text().split()} | older


def test_names_of_the_first_years_are_known(tmp_path: Path) -> None:
    code, found = checked(
        tmp_path,
        "resources:\n"
        "  net: {type: OS::Quantum::Net}\n"
        "  port: {type: OS::Quantum::Port, properties: {network_id: {get_resource: net}}}\n"
        "  wrong: {type: OS::Quantum::Port, properties: {network_id: a, adress: b}}\n"
        "  database: {type: AWS::RDS::DBInstance, properties: {MasterUsername: a}}\n"
        "  domain: {type: OS::Designate::Domain, properties: {name: a.org.}}\n"
        "  pool: {type: OS::Quantum::Pool, properties: {}}\n",
    )
    assert code == 2
    assert found == [
        ("warning", "deprecated-type", 3),
        ("warning", "deprecated-type", 4),
        ("error", "unknown-property", 5),
        ("error", "withdrawn-type", 6),
        ("error", "withdrawn-type", 7),
        ("error", "withdrawn-type", 8),
    ]


def test_duplicate_key_is_a_warning_unless_strict(tmp_path: Path) -> None:
    text = "description: x\ndescription: y\n"
    warned = [("warning", "duplicate-key", 3)]
    assert checked(tmp_path, text) == (0, warned)
    assert checked(tmp_path, text, "--strict") == (2, warned)


def test_findings_are_reported_in_line_order(tmp_path: Path) -> None:
    code, found = checked(
        tmp_path,
        "outputs: {o: {value: {get_resource: nothing}}}\n"
        "resources:\n"
        "  a: {type: OS::Heat::RandomString, properties: {length: long}}\n"
        "  b: {typ: OS::Heat::None}\n"
        "paramters: {}\n",
    )
    assert code == 2
    assert [line for _, _, line in found] == sorted(line for _, _, line in found)
    assert {4, 5, 6} <= {line for _, _, line in found}


def test_a_misspelt_version_key_is_suggested(tmp_path: Path) -> None:
    template = tmp_path / "main.yaml"
    template.write_text("heat_template_versoin: 2018-08-31\nresources: {}\n")
    done = stoker("validate", str(template))
    assert done.exit_code == 2
    assert 'did you mean "heat_template_version"?' in done.output


ELSEWHERE = """AWSTemplateFormatVersion: '2010-09-09'
Resources:
  a: {Type: OS::Heat::Value, Properties: {value: !ImportValue subnet}}
  b: {Type: AWS::CloudFormation::Stack, Properties: {TemplateURL: !Sub "https://x.example/${AWS::Region}.yaml"}}
"""


def test_template_known_to_service_only_is_no_error(tmp_path: Path) -> None:
    template = tmp_path / "main.yaml"
    template.write_text(ELSEWHERE)
    done = stoker("validate", "--format", "json", str(template))
    found = [(f["severity"], f["code"], f["line"]) for f in json.loads(done.output)]
    assert (done.exit_code, found) == (0, [("warning", "unfetched-file", 4)])


def test_validate_reads_standard_input(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "message.txt").write_text("hello")
    monkeypatch.chdir(tmp_path)
    template = (
        "heat_template_version: 2018-08-31\noutputs:\n  o: {value: {get_file: message.txt}}\n"
    )
    good = stoker("validate", "-", text=template)
    assert (good.exit_code, good.output) == (0, "-: OK\n")
    bad = stoker("validate", "-", text=template + "parametres: {}\n")
    assert bad.exit_code == 2
    assert "<stdin>:4:1: error" in bad.output


def test_file_of_template_is_never_standard_input(tmp_path: Path) -> None:
    template = "heat_template_version: 2018-08-31\noutputs:\n  o: {value: {get_file: ./-}}\n"
    done = stoker("validate", "-", text=template)
    assert 'there is no file "-"' in done.output


REPEATED_KEY = """heat_template_version: 2018-08-31
resources:
  port:
    type: OS::Neutron::Port
    properties: {network: private}
  port:
    type: OS::Nova::Server
    properties: {flavor: m1.tiny, image: host, networks: [{port: {get_resource: port}}]}
"""


def test_repeated_key_is_reported_before_its_consequences(tmp_path: Path) -> None:
    path = tmp_path / "repeated.yaml"
    path.write_text(REPEATED_KEY)
    first, *_, other = [line for line in stoker("validate", str(path)).output.splitlines()
                        if line.startswith(str(path))]  # fmt: skip
    assert 'the key "port" is given twice' in first
    assert "Circular Dependency" in other


ADDRESSES = """heat_template_version: 2018-08-31
parameters: {{wanted: {{type: boolean, default: true}}}}
conditions: {{wanted: {{get_param: wanted}}}}
resources:
  net: {{type: OS::Neutron::Net}}
  a:
    type: OS::Neutron::Port
    properties: {{network: {{get_resource: net}}, fixed_ips: [{{ip_address: 10.0.0.4}}]}}
  b:
    type: OS::Nova::Server
    {condition}
    properties:
      flavor: m1.tiny
      image: host
      networks: [{{network: {network}, fixed_ip: {address}}}]
"""


@pytest.mark.parametrize(
    ("address", "network", "condition", "warned"),
    [
        ("10.0.0.4", "{get_resource: net}", "", True),
        ("10.0.0.5", "{get_resource: net}", "", False),
        ("10.0.0.4", "private", "", False),
        ("10.0.0.4", "{get_resource: net}", "condition: wanted", False),
    ],
)
def test_equal_fixed_addresses_name_both_lines(
    tmp_path: Path, address: str, network: str, condition: str, warned: bool
) -> None:
    path = tmp_path / "addresses.yaml"
    path.write_text(ADDRESSES.format(address=address, network=network, condition=condition))
    done = stoker("validate", str(path))
    assert done.exit_code == 0
    assert (f"{path}:15:" in done.output, "(line 8)" in done.output) == (warned, warned)
