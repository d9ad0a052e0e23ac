"""Places of wrong values and unknown names, against a running service."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from tests.cli.conftest import Served, free_port, stoker

TEMPLATE = """heat_template_version: 2018-08-31
parameters:
  image:
    type: string
    default: host
    constraints: [{custom_constraint: glance.image, description: make it first}]
  size: {type: number, default: 1, constraints: [{range: {min: 1, max: 5}}]}
resources:
  server:
    type: OS::Nova::Server
    properties: {image: {get_param: image}, flavor: m1.tiny, networks: [{network: private}]}
"""


@pytest.fixture
def template(tmp_path: Path) -> Path:
    path = tmp_path / "app.yaml"
    path.write_text(TEMPLATE)
    return path


def refused(service: Served, template: Path, *environments: str) -> list[str]:
    """Return the first lines of the output of a deployment with these environments."""
    options: list[str] = []
    for number, text in enumerate(environments):
        path = template.with_name(f"{number}.env")
        path.write_text(text)
        options += ["-e", str(path)]
    done = service.run("deploy", str(template), *options)
    assert done.exit_code == 2
    heads = [line for line in done.output.splitlines() if line.startswith(str(template.parent))]
    offline = stoker("validate", str(template), *options).output
    for head in heads:
        assert head in offline or "there is no image" in head
    return [head.removeprefix(f"{template.parent}/") for head in heads]


@pytest.mark.parametrize(
    ("environment", "said"),
    [
        ("size: 9", "1.env:2:3: error: parameters.size: 9 is out of range (min: 1, max: 5)"),
        ("sise: 2", "1.env:2:3: error: parameters.sise: The Parameter (sise) was not defined"),
        ("image: host", None),
    ],
)
def test_wrong_value_is_reported_in_its_environment(
    service: Served, template: Path, environment: str, said: str | None
) -> None:
    first, last = "parameters: {size: 2}\n", "parameter_defaults:\n  size: 8\n"
    if said is None:
        found = refused(service, template, last, f"parameters:\n  {environment}\n")
        assert found == [
            (
                "0.env:2:3: error: parameter_defaults.size: 8 is out of range (min: 1, max: 5)"
                f" (declared at {template}:7:3)"
            )
        ]
        return
    found = refused(service, template, first, f"parameters:\n  {environment}\n", last)
    assert len(found) == 1
    assert found[0].startswith(said)


def test_wrong_section_of_environment_has_a_line(service: Served, template: Path) -> None:
    found = refused(service, template, "# none\nparameter:\n  size: 2\n")
    assert found[0].startswith("0.env:2:1: error: parameter: ")
    assert found[0].endswith('(did you mean "parameters"?)')


def test_unknown_image_is_reported_once_with_candidates(service: Served, template: Path) -> None:
    found = refused(service, template, "parameters:\n  image: hostt\n")
    reason = "there is no image 'hostt' (did you mean \"host\"?); make it first"
    assert found == [
        f"0.env:2:3: error: parameters.image: {reason} (declared at {template}:3:3)",
    ]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "the document is empty. A template begins with heat_template_version:"),
        ("services:\n  web: {image: nginx}\n", "this is a Compose file"),
        ('resource "x" "y" {\n  name = "x"\n}\n', "this is a Terraform configuration"),
    ],
)
def test_another_kind_of_document_is_recognised(tmp_path: Path, text: str, said: str) -> None:
    path = tmp_path / "other.yaml"
    path.write_text(text)
    assert said in stoker("validate", str(path)).output


def test_template_from_standard_input_requires_name() -> None:
    refused = stoker("deploy", "-", text="heat_template_version: 2018-08-31\n")
    assert refused.exit_code == 2
    assert "give the stack a --name" in refused.output


def test_unreachable_identity_service_is_named(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    given = {"AUTH_URL": f"http://127.0.0.1:{free_port()}/v3", "USERNAME": "a", "PASSWORD": "b"}
    for name, value in {**given, "PROJECT_NAME": "c"}.items():
        monkeypatch.setenv(f"OS_{name}", value)
    said = stoker("status").output
    assert "the identity service that OS_AUTH_URL names does not answer" in said
    assert "stoker serve" not in said


def test_reversed_ports_of_a_rule_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "rules.yaml"
    path.write_text(
        "heat_template_version: 2018-08-31\n"
        "resources:\n"
        "  group:\n"
        "    type: OS::Neutron::SecurityGroup\n"
        "    properties:\n"
        "      rules:\n"
        "        - {protocol: tcp, port_range_min: 80, port_range_max: 22}\n"
        "        - {protocol: icmp, port_range_min: 8, port_range_max: 0}\n"
    )
    said = stoker("validate", str(path)).output
    assert f"{path}:7:27: error:" in said
    assert "port_range_min, 80, is larger than port_range_max, 22" in said
    assert "1 error" in said


def test_failed_user_data_is_reported_after_the_outputs(service: Served, tmp_path: Path) -> None:
    template = tmp_path / "broken-script.yaml"
    template.write_text(
        "heat_template_version: 2018-08-31\n"
        "resources:\n"
        "  server:\n"
        "    type: OS::Nova::Server\n"
        "    properties:\n"
        "      image: host\n"
        "      flavor: m1.tiny\n"
        "      networks: [{network: private}]\n"
        "      user_data_format: RAW\n"
        '      user_data: "#!/bin/sh\\nexit 3\\n"\n'
    )
    said, deadline = "", time.monotonic() + 60
    while "user data" not in said and time.monotonic() < deadline:
        done = service.run("deploy", str(template))
        assert done.exit_code == 0, done.output
        said = done.output
    report = "The user data of server ended with exit code 3: stoker logs broken-script server"
    assert report in said
    assert service.run("destroy", "broken-script", "--yes").exit_code == 0
