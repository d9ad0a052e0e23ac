"""Where wrong values and unknown names are reported, against a running service."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.conftest import Served, stoker

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
    """The first lines of what a deployment with these environments prints."""
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
def test_a_wrong_value_is_reported_in_the_environment_that_gives_it(
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


def test_a_wrong_section_of_an_environment_has_a_line(service: Served, template: Path) -> None:
    found = refused(service, template, "# none\nparameter:\n  size: 2\n")
    assert found[0].startswith("0.env:2:1: error: parameter: ")
    assert found[0].endswith('(did you mean "parameters"?)')


def test_an_unknown_image_is_reported_once_with_candidates_and_the_description(
    service: Served, template: Path
) -> None:
    found = refused(service, template, "parameters:\n  image: hostt\n")
    reason = "there is no image 'hostt' (did you mean \"host\"?); make it first"
    assert found == [
        f"0.env:2:3: error: parameters.image: {reason} (declared at {template}:3:3)",
    ]
