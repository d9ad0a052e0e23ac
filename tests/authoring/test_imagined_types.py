"""The imagined cloud of ``stoker test``: each type is created, updated and deleted there."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from stoker.cli.client.client import Client
from stoker.cli.client.credentials import Credentials
from stoker.cli.client.stacks import ORCHESTRATION, Stack, find_stack
from stoker.resources.base.heat_catalog import WithDeclared
from stoker.resources.base.registry import Registry
from stoker.trial.service import URL, TrialService, running_trial_service

PAGES = Path(__file__).parents[2] / "docs" / "reference" / "resource-types"
FETCHES_ITS_TEMPLATE = "AWS::CloudFormation::Stack"
# Attributes with the name of an attribute of the members behind them.
OF_MEMBERS = ("attributes", "outputs", "outputs_list")


@pytest.fixture(scope="module")
def service() -> Iterator[TrialService]:
    with running_trial_service() as running:
        yield running


@pytest.fixture(scope="module")
def client(service: TrialService) -> Client:
    return Client(Credentials(f"{URL}/v3", username="tester"), URL, service.transport)


def example_of(page: Path) -> tuple[str, dict[str, Any]]:
    """Return the type of a page and its example, with all attributes as outputs."""
    text = page.read_text()
    type_name = text.partition("\n")[0].removeprefix("# ")
    example = text.partition("```yaml\n")[2].partition("```")[0]
    template = yaml.load(example, Loader=yaml.BaseLoader)
    types = WithDeclared(Registry())
    template["outputs"] = {
        f"{name}_{attribute}": {"value": {"get_attr": [name, attribute]}}
        for name, body in template["resources"].items()
        for attribute in (types.find(body["type"]) or types).attributes  # type: ignore[union-attr]
        if attribute not in OF_MEMBERS
    }
    return type_name, template


def ended(service: TrialService, client: Client, name: str) -> Stack | None:
    service.settle()
    return find_stack(client, name, outputs=False)


def test_each_type_is_created_updated_and_deleted(service: TrialService, client: Client) -> None:
    pages = [page for page in sorted(PAGES.glob("*/*.md")) if page.name != "README.md"]
    assert len(pages) > 160
    states = {}
    for number, page in enumerate(pages):
        type_name, template = example_of(page)
        if type_name == FETCHES_ITS_TEMPLATE:
            continue
        name = f"stack-{number}"
        body: dict[str, Any] = {"stack_name": name, "template": json.dumps(template)}
        client.call(ORCHESTRATION, "POST", "/stacks", body)
        stack = ended(service, client, name)
        assert stack is not None
        shown = client.get(ORCHESTRATION, stack.path)["stack"]["outputs"]
        faults = [each["output_error"] for each in shown if each.get("output_error")]
        for resource in template["resources"].values():
            resource["metadata"] = {"changed": "yes"}
        client.call(ORCHESTRATION, "PUT", stack.path, {**body, "template": json.dumps(template)})
        updated = ended(service, client, name)
        client.call(ORCHESTRATION, "DELETE", stack.path)
        left = ended(service, client, name)
        assert updated is not None
        states[type_name] = (stack.state, faults, updated.state, left)
    expected: tuple[Any, ...] = ("CREATE_COMPLETE", [], "UPDATE_COMPLETE", None)
    assert {name: state for name, state in states.items() if state != expected} == {}
