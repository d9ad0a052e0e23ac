"""``stoker console``: values of expressions."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from stoker.cli.authoring.expressions.evaluator import LiveFacts, evaluator_of_stack
from stoker.cli.client.client import Client
from stoker.cli.client.credentials import Credentials
from stoker.cli.client.stacks import ORCHESTRATION, find_stack
from stoker.sandbox.sandbox import Sandbox
from stoker.trial.service import URL, running_trial_service
from tests.cli.conftest import stoker

TEMPLATE = """
heat_template_version: 2018-08-31
parameters:
  size: {type: number, default: 2}
  names: {type: comma_delimited_list, default: "a,b"}
conditions:
  big: {equals: [{get_param: size}, 9]}
resources:
  port: {type: OS::Neutron::Port, properties: {network: private}}
  server:
    type: OS::Nova::Server
    properties:
      flavor: {if: [big, large, small]}
      image: i
      networks: [{port: {get_resource: port}}]
outputs:
  text: {value: {list_join: ["-", {get_param: names}]}}
  address: {value: {get_attr: [server, first_address]}}
"""


@pytest.fixture
def template(tmp_path: Path) -> str:
    path = tmp_path / "app.yaml"
    path.write_text(TEMPLATE)
    return str(path)


def value(*arguments: str) -> Any:
    done = stoker("console", *arguments)
    assert done.exit_code == 0, done.output
    return json.loads(done.stdout)


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        ("{get_param: size}", 2),
        ("{get_param: [names, 1]}", "b"),
        ("parameters.names", ["a", "b"]),
        ("conditions.big", False),
        ("conditions", {"big": False}),
        ("{equals: [a, a]}", True),
        ("{not: big}", True),
        ("{yaql: {expression: $.data.x.sum(), data: {x: [1, 2]}}}", 3),
        ("outputs.text", "a-b"),
        ("outputs.address", "(known after server)"),
        ("resources.server.properties.flavor", "small"),
        ("resources.server.properties.networks.0.port", "(known after port)"),
        ("resources.server.depends_on", ["port"]),
        ("[1, {get_param: size}]", [1, 2]),
        ("5", 5),
    ],
)
def test_expressions_have_values(template: str, expression: str, expected: Any) -> None:
    assert value(template, "-c", expression) == expected


def test_parameters_of_the_command_count(template: str) -> None:
    assert value(template, "-P", "size=9", "-c", "resources.server.properties.flavor") == "large"


@pytest.mark.parametrize(
    ("expression", "message"),
    [
        ("{get_param: siz}", 'did you mean "size"?'),
        ("resources.servr", 'resources has no "servr"; did you mean "server"?'),
        ("resources.server.properties.x", 'there is no "x" in it'),
        ("{list_join: 1}", "list_join"),
        ("{a: [", "the text is not valid YAML"),
    ],
)
def test_mistakes_are_explained(template: str, expression: str, message: str) -> None:
    done = stoker("console", template, "-c", expression)
    assert done.exit_code == 1
    assert message in done.output


def test_functions_need_no_template() -> None:
    assert value("-c", '{str_replace: {template: "x$y", params: {$y: 1}}}') == "x1"


def test_standard_input_has_an_expression_a_line(template: str) -> None:
    done = stoker("console", template, text="{get_param: size}\n\nparameters.size\n")
    assert done.stdout == "2\n2\n"


def test_live_facts_are_those_of_the_stack() -> None:
    with running_trial_service() as service:
        client = Client(Credentials(f"{URL}/v3", username="u"), URL, service.transport)
        client.call("orchestration", "POST", "/stacks", {"stack_name": "s", "template": TEMPLATE})
        service.settle()
        stack = find_stack(client, "s")
        assert stack is not None
        facts = LiveFacts(client, stack)
        assert facts.reference("port").startswith("port-")
        assert facts.attribute("server", "first_address").startswith("192.0.2.")


HIDDEN = """
heat_template_version: 2018-08-31
parameters:
  given: {type: string, hidden: true}
  changed: {type: string, hidden: true, default: old}
outputs:
  given: {value: {get_param: given}}
"""


@pytest.mark.parametrize("expression", ["outputs.given", "{get_param: changed}"])
def test_hidden_parameters_of_a_stack_have_no_value(expression: str) -> None:
    with running_trial_service() as service:
        client = Client(Credentials(f"{URL}/v3", username="tester"), URL, service.transport)
        parameters = {"given": "secret", "changed": "new"}
        body = {"stack_name": "app", "template": HIDDEN, "parameters": parameters}
        client.call(ORCHESTRATION, "POST", "/stacks", body)
        service.settle()
        stack, helpers = find_stack(client, "app"), Sandbox(size=1)
        assert stack is not None
        try:
            found = evaluator_of_stack(client, stack, helpers).value(expression)
        finally:
            helpers.close()
    assert found == "(depends on a parameter that is hidden or not given)"
