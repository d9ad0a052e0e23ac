"""One stack with one of everything that the API has addresses for, and people around it."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import Any

import httpx

from stoker.kernel.values import replace
from tests.isolation.people import Person, admin, newcomer, token_of
from tests.recovery.service import Service, until

HANDLE = {
    "type": "OS::Heat::WaitConditionHandle",
    "properties": {"signal_transport": "HEAT_SIGNAL"},
}
TEMPLATE: dict[str, Any] = {
    "heat_template_version": "2018-08-31",
    "description": "one of everything",
    "resources": {
        "a": {"type": "OS::Heat::RandomString", "properties": {"length": 8}},
        "handle": HANDLE,
    },
    "outputs": {
        "o": {"description": "a text", "value": {"get_attr": ["a", "value"]}},
        "signal": {"value": {"get_attr": ["handle", "signal"]}},
    },
}
EMPTY = {"heat_template_version": "2018-08-31", "resources": {}}


def one_value(name: str) -> dict[str, Any]:
    """A template with a value of that name."""
    value = {"type": "OS::Heat::Value", "properties": {"value": "1"}}
    return {**EMPTY, "resources": {name: value}}


VERSION = "heat_template_version.2018-08-31"


@dataclass
class Scene:
    """The stack ``everything`` of a member, and who else there is."""

    service: Service
    people: dict[str, Person]
    stack_id: str
    names: dict[str, str]  # values for the variable parts of addresses
    stack_name: str = "everything"
    made: int = 0
    # Objects for a request that was refused and so did not consume them.
    spared: dict[object, dict[str, str]] = field(default_factory=dict)

    @property
    def member(self) -> Person:
        """The owner of the stack."""
        return self.people["member"]

    def ask(self, path: str, body: Any, wanted: int, method: str = "POST") -> Any:
        """The JSON of an answer to the owner of the stack."""
        answer = self.member.ask(method, path, body)
        assert answer.status_code == wanted, answer.text
        return answer.json() if answer.content.startswith(b"{") else None

    def new_stack(self) -> str:
        """``name/id`` of another stack, which has nothing in it."""
        self.made += 1
        name = f"fresh{self.made}"
        return f"{name}/{self.member.create(name, EMPTY)}"

    def new_snapshot(self) -> str:
        """The id of another snapshot of the stack, once it is taken."""
        path = f"/stacks/{self.stack_name}/{self.stack_id}/snapshots"
        made: str = self.ask(path, {}, 200)["id"]

        def taken() -> bool:
            answer = self.member.ask("GET", f"{path}/{made}").json()
            return bool(answer["snapshot"]["status"] == "COMPLETE")

        until(taken, "the snapshot is taken")
        return made

    def new_config(self) -> str:
        """The id of another software config."""
        made: str = self.ask("/software_configs", {"name": "c"}, 200)["software_config"]["id"]
        return made

    def new_deployment(self) -> str:
        """The id of another software deployment."""
        body = {"config_id": self.names["config_id"], "server_id": "some-server"}
        made: str = self.ask("/software_deployments", body, 200)["software_deployment"]["id"]
        return made

    def settled(self) -> None:
        """Return when no operation on the stack is under way."""
        status = "IN_PROGRESS"
        until(
            lambda: status not in self.member.status(self.stack_name, self.stack_id),
            "the stack rests",
        )


def set_scene(service: Service) -> Scene:
    """The stack is made and all of it is there."""
    member = newcomer(service, "rest-member")
    stack_id = member.create("everything", TEMPLATE, tags="tagged")
    other_stack = member.create("another", TEMPLATE)
    path = f"/stacks/everything/{stack_id}"
    people = {
        "no token": Person(service.url, "", member.project),
        "other project": newcomer(service, "rest-other"),
        "reader": newcomer(service, "rest-reader", "reader", member.project),
        "member": member,
        "stack user": stack_user(service, member, path),
        "user of another stack": stack_user(service, member, f"/stacks/another/{other_stack}"),
        "admin": admin(service),
    }
    scene = Scene(service, people, stack_id, {})
    name_all(scene)
    return scene


def with_another_stack(scene: Scene) -> Scene:
    """The same people around a stack of its own, for those who do not treat it well."""
    stack_id = scene.member.create("victim", TEMPLATE)
    other = replace(scene, stack_name="victim", stack_id=stack_id, names={}, spared={})
    name_all(other)
    return other


def name_all(scene: Scene) -> None:
    """Create the missing parts of the stack, and look up all names."""
    names, path = scene.names, f"/stacks/{scene.stack_name}/{scene.stack_id}"
    names |= {
        "stack_name": scene.stack_name,
        "stack_id": scene.stack_id,
        "resource_name": "handle",
        "output_key": "o",
        "type_name": "OS::Heat::RandomString",
        "version": VERSION,
        "constraint": "nova.flavor",
        "server_id": "some-server",
    }
    events = scene.member.ask("GET", f"{path}/resources/handle/events").json()["events"]
    names["event_id"] = events[0]["id"]
    names["config_id"] = scene.new_config()
    names["deployment_id"] = scene.new_deployment()
    names["snapshot_id"] = scene.new_snapshot()


def stack_user(service: Service, owner: Person, path: str) -> Person:
    """The user that a handle of a stack was made for, with the project that it is in."""
    shown = owner.ask("GET", f"{path}/outputs/signal").json()["output"]["output_value"]
    signal = json.loads(shown)
    token = token_of(service, signal["user_id"], signal["password"], signal["project_id"])
    return Person(service.url, token, signal["project_id"], signal["user_id"])


def described(service: Service) -> dict[str, Any]:
    """The service's own description of its API."""
    document: dict[str, Any] = httpx.get(f"{service.url}/v1/openapi.json", timeout=20).json()
    return document
