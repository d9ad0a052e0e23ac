"""The state of a stack and of the project, and the differences between two such states."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import click
from msgspec import Struct

from stoker.cli.arguments.naming import by_path
from stoker.cli.client.client import Client, RefusedError
from stoker.cli.client.stacks import ORCHESTRATION, Resource, Stack, refresh, resources_of
from stoker.cli.console.failures import CommandError
from stoker.cli.differences import difference

# Attributes that change without a change of the object.
_VOLATILE = frozenset(
    {
        "updated_at", "updated", "revision_number", "progress", "hostId", "console_urls",
        "OS-SRV-USG:launched_at", "OS-SRV-USG:terminated_at", "OS-EXT-STS:task_state",
        "OS-EXT-STS:power_state", "stoker:forwardings", "links", "attached_at",
    }
)  # fmt: skip
# Lists of the objects of a project: service, path, key of the list, key of the id.
_LISTS = (
    ("compute", "/servers", "servers", "id"),
    ("compute", "/os-server-groups", "server_groups", "id"),
    ("compute", "/os-keypairs", "keypairs", "keypair"),
    ("network", "/v2.0/networks", "networks", "id"),
    ("network", "/v2.0/subnets", "subnets", "id"),
    ("network", "/v2.0/subnetpools", "subnetpools", "id"),
    ("network", "/v2.0/ports", "ports", "id"),
    ("network", "/v2.0/routers", "routers", "id"),
    ("network", "/v2.0/floatingips", "floatingips", "id"),
    ("network", "/v2.0/security-groups", "security_groups", "id"),
    ("network", "/v2.0/trunks", "trunks", "id"),
    ("block-storage", "/volumes", "volumes", "id"),
    ("block-storage", "/snapshots", "snapshots", "id"),
    ("block-storage", "/backups", "backups", "id"),
    ("image", "/v2/images", "images", "id"),
    ("object-store", "?format=json", "", "name"),
    ("key-manager", "/v1/secrets", "secrets", "secret_ref"),
    ("key-manager", "/v1/containers", "containers", "container_ref"),
    ("load-balancer", "/v2/lbaas/loadbalancers", "loadbalancers", "id"),
    ("dns", "/v2/zones", "zones", "id"),
    ("shared-file-system", "/shares", "shares", "id"),
    ("shared-file-system", "/share-networks", "share_networks", "id"),
    ("alarming", "/v2/alarms", "", "alarm_id"),
    ("messaging", "/v2/queues", "queues", "name"),
    ("workflowv2", "/workflows", "workflows", "id"),
)
_KINDS = {
    "keypairs": "key pair",
    "server_groups": "server group",
    "security_groups": "security group",
    "floatingips": "floating IP",
    "loadbalancers": "load balancer",
    "share_networks": "share network",
    "subnetpools": "subnet pool",
}
_NAMELESS = {"object-store": "container", "alarming": "alarm"}


class StackState(Struct, frozen=True):
    """The resources, live attributes and outputs of a stack at one time."""

    resources: Mapping[str, Resource]  # by path
    properties: Mapping[str, Mapping[str, Any]]  # live attributes by path
    outputs: Mapping[str, Any]
    template: Any


def state_of(client: Client, stack: Stack) -> StackState:
    """Return the present state of a stack, with the live attributes of all its objects."""
    now = refresh(client, stack, outputs=True)
    resources = by_path(stack, resources_of(client, stack))
    # Attributes of resources without an object, such as received signals, are a history.
    external = {
        (each["stack_id"], each["resource_name"])
        for each in _compared(client, stack)
        if each["state"] != "internal"
    }
    return StackState(
        resources,
        {
            path: _live(client, each) if each.key in external else {}
            for path, each in resources.items()
        },
        {output.name: output.error or output.value for output in now.outputs},
        client.get(ORCHESTRATION, f"{stack.path}/template"),
    )


class Comparison(Struct, frozen=True):
    """The differences between two states, one line each."""

    made_again: tuple[str, ...]  # resources with another object of the same definition
    others: tuple[str, ...]


def compared(before: StackState, after: StackState) -> Comparison:
    """Compare two states of a stack.

    Another object is the only difference that it makes: its id is expected in the attributes of
    others.
    """
    others: list[str] = []
    made_again = []
    ids: dict[str, str] = {}
    for path in sorted({*before.resources, *after.resources}):
        old, new = before.resources.get(path), after.resources.get(path)
        if old is None or new is None:
            others.append(f"{path} is {'new' if old is None else 'gone'}")
        elif old.physical_id != new.physical_id:
            made_again.append(f"{path}: {new.physical_id}, was {old.physical_id}")
            ids[old.physical_id] = new.physical_id
        elif new.status != old.status:
            others.append(f"{path} is {new.state}, was {old.state}")
    for path, old in before.resources.items():
        if after.resources.get(path, old).physical_id == old.physical_id:
            expected = _with_ids(before.properties[path], ids)
            lines = _changed(expected, after.properties.get(path, expected))
            others += [f"{path}: {line}" for line in lines]
    lines = _changed(_with_ids(before.outputs, ids), after.outputs)
    others += [f"output {line}" for line in lines]
    if before.template != after.template:
        others.append("the stack has another template")
    return Comparison(tuple(made_again), tuple(click.unstyle(line) for line in others))


def _with_ids(value: Any, ids: Mapping[str, str]) -> Any:
    text = json.dumps(value)
    for old, new in ids.items():
        text = text.replace(json.dumps(old)[1:-1], json.dumps(new)[1:-1])
    return _stable(json.loads(text))


def _changed(old: Mapping[str, Any], new: Mapping[str, Any]) -> Iterator[str]:
    for name in sorted({*old, *new}):
        if _stable(old.get(name)) != _stable(new.get(name)):
            yield "\n".join(difference(name, old.get(name), new.get(name)))


def _live(client: Client, resource: Resource) -> Mapping[str, Any]:
    path = f"/stacks/{resource.stack_name}/{resource.stack_id}/resources/{resource.name}"
    try:
        found = client.get(ORCHESTRATION, path)["resource"].get("attributes") or {}
    except RefusedError:
        return {}
    shown = found.get("show")
    stable: Mapping[str, Any] = _stable(shown if isinstance(shown, Mapping) else found)
    return stable


def _stable(value: Any) -> Any:
    """Return a value without volatile attributes, and with sorted lists."""
    if isinstance(value, Mapping):
        return {key: _stable(each) for key, each in value.items() if key not in _VOLATILE}
    if isinstance(value, list):
        return sorted((_stable(each) for each in value), key=lambda each: json.dumps(each))
    return value


def drift_of(client: Client, stack: Stack) -> list[str]:
    """Return the resources whose live objects are not as the template says, one line each."""
    return [
        f"{each['resource_name']} is {each['state']}"
        + "".join(f", {changed['name']}" for changed in each["properties"])
        for each in _compared(client, stack)
        if each["state"] in ("changed", "gone")
    ]


def _compared(client: Client, stack: Stack) -> Sequence[Mapping[str, Any]]:
    """Return the resources as the service has compared them with their live objects."""
    answer: Mapping[str, Any] = client.get(ORCHESTRATION, f"{stack.path}/drift")["drift"]
    found: Sequence[Mapping[str, Any]] = answer["resources"]
    return found


def objects_of(client: Client) -> dict[str, str]:
    """Return the objects of the project, with a description, by id."""
    found = {}
    for service, path, key, id_key in _LISTS:
        try:
            answer = client.get(service, path)
        except CommandError:
            continue
        for each in _items(answer, key):
            shown = each[id_key] if isinstance(each.get(id_key), dict) else each
            identity = str(shown["name"] if shown is not each else each[id_key])
            name = str(shown.get("name") or identity)
            if each.get("owner", "") is None or each.get("device_owner"):
                continue  # Public images, and ports that belong to other objects.
            kind = _KINDS.get(key) or _NAMELESS.get(service) or key.removesuffix("s")
            found[identity] = f"{kind} {name}" + ("" if name == identity else f" ({identity})")
    return found


def _items(answer: Any, key: str) -> Sequence[Mapping[str, Any]]:
    items = answer.get(key) if key and isinstance(answer, Mapping) else answer
    return items or ()
