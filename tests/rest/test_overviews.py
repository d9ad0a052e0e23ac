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


def test_search_finds_recorded_addresses(service: Service) -> None:
    resources = {
        "net": {"type": "OS::Neutron::Net"},
        "subnet": {
            "type": "OS::Neutron::Subnet",
            "properties": {"network": {"get_resource": "net"}, "cidr": "10.177.0.0/24"},
        },
        "port": {
            "type": "OS::Neutron::Port",
            "depends_on": "subnet",
            "properties": {"network": {"get_resource": "net"}},
        },
        "floating": {
            "type": "OS::Neutron::FloatingIP",
            "properties": {"floating_network": "public"},
        },
        "fixed": server({"fixed_ip": "10.177.0.77"}),
        "plain": server({}),
    }
    path = created(service, "addressed", {**DATA, "resources": resources})
    shown = {
        name: service.get(f"{path}/resources/{name}")["resource"]["attributes"]
        for name in ("port", "floating", "fixed", "plain")
    }
    port = shown["port"]["fixed_ips"][0]["ip_address"]
    floating = shown["floating"]["floating_ip_address"]
    assert found_with(service, port) == {("port", "address")}
    assert found_with(service, floating) == {("floating", "address")}
    assert found_with(service, "10.177.0.77") == {("fixed", "address")}
    # The service records no address of a server that no template reads.
    [address] = next(iter(shown["plain"]["addresses"].values()))
    assert found_with(service, address["addr"]) == set()
    reading = {**DATA, "resources": resources, "outputs": {"a": {"value": ADDRESSES}}}
    assert service.request("PUT", path, {"template": reading}).status_code == 202
    finished(service, path)
    assert found_with(service, address["addr"]) == {("plain", "address")}


ADDRESSES = {"get_attr": ["plain", "addresses"]}


def server(network: dict[str, str]) -> dict[str, object]:
    """A server in the network of the template."""
    networks = [{"network": {"get_resource": "net"}, **network}]
    return {
        "type": "OS::Nova::Server",
        "depends_on": "subnet",
        "properties": {"image": "cirros", "flavor": "m1.tiny", "networks": networks},
    }


def found_with(service: Service, address: str) -> set[tuple[str, str]]:
    matches = service.get(f"/search?text={address}")["matches"]
    return {(each["resource_name"], each["matched"]) for each in matches}


@pytest.mark.parametrize("kind", ["user", "project", "role", "domain"])
def test_refused_list_of_choices_is_forbidden(service: Service, kind: str) -> None:
    before = service.log().count("Traceback")
    answer = service.request("GET", f"/constraint_choices/keystone.{kind}")
    assert answer.status_code == 403, answer.text
    assert "HTTP 403" in answer.json()["error"]["message"]
    assert service.log().count("Traceback") == before
