"""Values that a nested stack gets, and that the cloud knows nothing of."""

from __future__ import annotations

from tests.isolation.people import demo
from tests.recovery.service import Service, until

NESTED = """
heat_template_version: 2018-08-31
parameters:
  key: {type: string}
resources:
  first: {type: OS::Heat::RandomString}
  server:
    type: OS::Nova::Server
    properties: {image: host, flavor: m1.tiny, key_name: {get_param: key}}
"""
TEMPLATE = {
    "heat_template_version": "2018-08-31",
    "resources": {
        "name": {"type": "OS::Heat::RandomString", "properties": {"length": 8}},
        "nested": {
            "type": "nested.yaml",
            "properties": {"key": {"list_join": ["-", ["none", {"get_attr": ["name", "value"]}]]}},
        },
    },
}


def test_nested_stack_refuses_values_absent_in_cloud(service: Service) -> None:
    person = demo(service)
    body = {"stack_name": "keys", "template": TEMPLATE, "files": {"nested.yaml": NESTED}}
    answer = person.ask("POST", "/stacks", body)
    assert answer.status_code == 201, answer.text
    path = f"/stacks/keys/{answer.json()['stack']['id']}"

    def shown() -> dict[str, str]:
        found: dict[str, str] = person.ask("GET", path).json()["stack"]
        return found

    until(lambda: shown()["stack_status"] == "CREATE_FAILED", "it fails")
    reason = shown()["stack_status_reason"]
    assert "resources.nested: nested.yaml:9:" in reason, reason
    assert "there is no key pair 'none-" in reason, reason
    events = person.ask("GET", f"{path}/events?nested_depth=1").json()["events"]
    assert {event["resource_name"] for event in events}.isdisjoint({"first", "server"})
    assert person.ask("DELETE", path).status_code == 204
