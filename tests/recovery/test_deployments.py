"""``kill -9`` while software is deployed: each action reaches a server once, no report is lost."""

from __future__ import annotations

import random
import threading
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.recovery.service import Service, until

NAME = "deployed"
LONGEST_LIFE = 0.6  # longest life in seconds before the service is killed


def template(value: str) -> dict[str, Any]:
    script = {
        "group": "script",
        "config": "echo",
        "inputs": [{"name": "i"}],
        "outputs": [{"name": "o"}],
    }
    deployments = {
        f"d{number}": {
            "type": "OS::Heat::SoftwareDeployment",
            "properties": {
                "config": {"get_resource": "script"},
                "server": {"get_resource": "server"},
                "input_values": {"i": value},
            },
        }
        for number in range(3)
    }
    return {
        "heat_template_version": "2018-08-31",
        "resources": {
            "script": {"type": "OS::Heat::SoftwareConfig", "properties": script},
            "server": {
                "type": "OS::Heat::DeployedServer",
                "properties": {"software_config_transport": "POLL_TEMP_URL"},
            },
            **deployments,
        },
        "outputs": {name: {"value": {"get_attr": [name, "o"]}} for name in deployments},
    }


class Agent(threading.Thread):
    """The agent of a server: it polls an object for deployments, applies each, and reports."""

    def __init__(self, service: Service) -> None:
        super().__init__(daemon=True)
        self.service = service
        self.url: str | None = None
        # Inputs of the applied deployments by config id.
        self.applied: dict[str, dict[str, Any]] = {}
        self.over = threading.Event()

    def run(self) -> None:
        while not self.over.wait(0.05):
            try:
                self._look()
            except (httpx.HTTPError, AssertionError, KeyError, ValueError):
                continue  # the service is dead at present

    def _look(self) -> None:
        if self.url is None:
            stack = self.service.stack(NAME)
            if stack is not None:
                path = f"/stacks/{NAME}/{stack['id']}/resources/server/metadata"
                found = self.service.request("GET", path).json()["metadata"]
                self.url = found["os-collect-config"]["request"]["metadata_url"]
            return
        for config in httpx.get(self.url, timeout=5).json().get("deployments", []):
            inputs = {entry["name"]: entry.get("value") for entry in config["inputs"]}
            report = {"deploy_status_code": 0, "o": f"applied {inputs['i']}"}
            if config["id"] in self.applied:
                continue
            answer = httpx.post(inputs["deploy_signal_id"], json=report, timeout=5)
            if answer.status_code == httpx.codes.OK:
                self.applied[config["id"]] = inputs


@pytest.fixture
def service(tmp_path: Path) -> Iterator[Service]:
    running = Service(tmp_path / "data")
    running.start()
    yield running
    running.stop()


@pytest.fixture
def agent(service: Service) -> Iterator[Agent]:
    thread = Agent(service)
    thread.start()
    yield thread
    thread.over.set()
    thread.join(10)


def die_and_go_on(service: Service, dice: random.Random, kills: int) -> None:
    for _ in range(kills):
        time.sleep(dice.uniform(0, LONGEST_LIFE))
        service.kill()
        service.start()


def has_ended(service: Service, status: str) -> bool:
    stack = service.stack(NAME)
    return stack is not None and stack["stack_status"] == status


@pytest.mark.parametrize("kills", [2, pytest.param(8, marks=pytest.mark.long)])
def test_server_gets_each_action_once_and_reports_persist(
    service: Service, agent: Agent, kills: int
) -> None:
    dice = random.Random(17)
    body = {"stack_name": NAME, "template": template("one"), "timeout_mins": 5}
    assert service.request("POST", "/stacks", body).status_code == 201
    die_and_go_on(service, dice, kills)
    until(lambda: has_ended(service, "CREATE_COMPLETE"), "it is created", 60)
    stack = service.stack(NAME)
    assert stack is not None
    path = f"/stacks/{NAME}/{stack['id']}"
    assert service.request("PUT", path, {"template": template("two")}).status_code == 202
    die_and_go_on(service, dice, kills)
    until(lambda: has_ended(service, "UPDATE_COMPLETE"), "it is updated", 60)
    runs = Counter(
        (i["deploy_resource_name"], i["deploy_action"], i["i"]) for i in agent.applied.values()
    )
    names = ("d0", "d1", "d2")
    expected = {(n, a, v) for n in names for a, v in (("CREATE", "one"), ("UPDATE", "two"))}
    assert runs == Counter(expected)
    metadata = service.get(f"{path}/resources/server/metadata")["metadata"]
    assert metadata["os-collect-config"]["request"]["metadata_url"] == agent.url
    events = service.get(f"{path}/resources/server/events")["events"]
    assert not any("UPDATE" in event["resource_status"] for event in events)
    shown = service.request("GET", path).json()["stack"]["outputs"]
    assert {output["output_value"] for output in shown} == {"applied two"}
    assert service.request("DELETE", path).status_code == 204
    die_and_go_on(service, dice, kills)
    until(lambda: service.stack(NAME) is None, "it is deleted", 60)
    for what in ("configs", "deployments"):
        assert service.request("GET", f"/software_{what}").json() == {f"software_{what}": []}
