"""Templates as they were sent, past operations, and the search, at a real service."""

from __future__ import annotations

import httpx
import pytest
import yaml

from tests.recovery.service import Service, until

TEXT = """\
# a comment that must not be lost
heat_template_version: '2021-04-16'
resources:
  first: {type: OS::Heat::Value, properties: {value: "ä"}}  # and another
"""
DATA = yaml.safe_load(TEXT)


def created(service: Service, name: str, template: object) -> str:
    """Create a stack; return its address when it is complete."""
    body = {"stack_name": name, "template": template}
    stack_id = service.request("POST", "/stacks", body).json()["stack"]["id"]
    path = f"/stacks/{name}/{stack_id}"
    finished(service, path)
    return path


def finished(service: Service, path: str) -> None:
    def ended() -> bool:
        status = service.get(path)["stack"]["stack_status"]
        return not str(status).endswith("IN_PROGRESS")

    until(ended, f"{path} rests")


def template_of(service: Service, path: str, accept: str) -> httpx.Response:
    token, project = service.authenticate()
    headers = {"X-Auth-Token": token, "Accept": accept}
    return httpx.get(f"{service.url}/v1/{project}{path}/template", headers=headers)


@pytest.mark.parametrize("accept", ["application/yaml", "text/plain"])
def test_template_is_returned_as_it_was_sent(service: Service, accept: str) -> None:
    path = created(service, f"text-{accept[:4]}", TEXT)
    answer = template_of(service, path, accept)
    assert answer.text == TEXT
    assert answer.headers["content-type"] == f"{accept}; charset=utf-8"
    assert template_of(service, path, f"application/json, {accept}").json()["resources"]
    assert template_of(service, path, "*/*").headers["content-type"] == "application/json"


def test_template_sent_as_data_is_returned_as_yaml(service: Service) -> None:
    path = created(service, "data", DATA)
    text = template_of(service, path, "application/yaml").text
    assert yaml.safe_load(text)["resources"] == DATA["resources"]
    assert text.startswith("heat_template_version:")


def test_operations_are_listed_newest_first(service: Service) -> None:
    path = created(service, "worked-on", DATA)
    second = {"type": "OS::Heat::Value", "properties": {"value": "b"}}
    template = {**DATA, "resources": {**DATA["resources"], "second": second}}
    assert service.request("PUT", path, {"template": template}).status_code == 202
    finished(service, path)
    update, create = service.get(f"{path}/operations")["operations"]
    assert (create["action"], create["status"]) == ("CREATE", "COMPLETE")
    assert create["resources"] == {"CREATE_COMPLETE": 1}
    assert (update["action"], update["resources"]) == ("UPDATE", {"CREATE_COMPLETE": 1})
    assert create["creation_time"] <= create["start_time"] <= create["end_time"]
    assert create["end_time"] <= update["start_time"]
    older = service.get(f"{path}/operations?marker={update['id']}")["operations"]
    assert older == [create]
    assert service.get(f"{path}/operations?limit=1")["operations"] == [update]


def test_search_finds_stack_and_resource(service: Service) -> None:
    path = created(
        service, "searched", {**DATA, "resources": {"needle": DATA["resources"]["first"]}}
    )
    [found] = service.get("/search?text=SEARCHED&limit=1")["matches"]
    assert (found["kind"], found["stack"]["name"], found["matched"]) == (
        "stack",
        "searched",
        "name",
    )
    [found] = service.get("/search?text=needle")["matches"]
    assert (found["kind"], found["resource_name"]) == ("resource", "needle")
    assert path.endswith(found["stack"]["id"])
    assert service.request("GET", f"/search?text={'x' * 256}").status_code == 400
