"""Whatever is sent, the answer is one of the API's own errors."""

from typing import Any

import pytest

from cloud_testing.network import Api
from cloud_testing.sampling import one_in
from localcloud.network.model import resources
from localcloud.network.model.attributes import Resource

ODD: tuple[Any, ...] = (
    None,
    True,
    -1,
    0,
    1.5,
    10**30,
    "",
    "x" * 5000,
    "10.0.0.0/33",
    "fd00::1",
    "\u0000",
    [],
    {},
    [None],
    [[]],
    [{}],
    {"a": {"b": [1]}},
    [{"ip_address": "nonsense"}],
    [{"start": "10.0.0.1", "end": "fd00::1"}],
    [{"destination": "0.0.0.0/0", "nexthop": "fd00::1"}],
)


ATTRIBUTES = [
    (resource, name)
    for resource in vars(resources).values()
    if isinstance(resource, Resource)
    for name in resource.attributes
]


@pytest.mark.parametrize(
    "attribute", one_in(3, ATTRIBUTES), ids=lambda attribute: f"{attribute[0].kind}-{attribute[1]}"
)
async def test_odd_values_never_break_the_service(
    admin: Api, attribute: tuple[Resource, str]
) -> None:
    resource, name = attribute
    network, subnet = await admin.net()
    port = await admin.create("port", network_id=network["id"])
    router = await admin.create("router")
    group = await admin.create("security_group", name="g")
    valid: dict[str, dict[str, Any]] = {
        "subnet": {"network_id": network["id"], "cidr": "10.7.0.0/24"},
        "subnetpool": {"name": "p", "prefixes": ["10.0.0.0/16"]},
        "address_scope": {"ip_version": 4},
        "port": {"network_id": network["id"]},
        "floatingip": {"floating_network_id": await admin.public()},
        "security_group_rule": {"security_group_id": group["id"], "direction": "ingress"},
        "rbac_policy": {
            "object_type": "network",
            "object_id": network["id"],
            "action": "access_as_shared",
            "target_tenant": "other-project",
        },
    }
    targets = {
        "network": network,
        "subnet": subnet,
        "port": port,
        "router": router,
        "security_group": group,
    }
    prefix = f"/network/v2.0{resource.path}"
    for odd in ODD:
        body = {resource.kind: {**valid.get(resource.kind, {}), name: odd}}
        answer = await admin.http.post(prefix, json=body)
        assert answer.status_code < 500, (odd, answer.text)
        if resource.kind in targets:
            changes = {resource.kind: {name: odd}}
            url = f"{prefix}/{targets[resource.kind]['id']}"
            answer = await admin.http.put(url, json=changes)
            assert answer.status_code < 500, (odd, answer.text)
    for text in ("", "x", "True", "10.0.0.1", "a=b"):
        answer = await admin.http.get(prefix, params={name: text})
        assert answer.status_code < 500, (text, answer.text)


@pytest.mark.parametrize("body", [b"", b"[]", b"{", b'"x"', b'{"network": {"name": 1}}', b"\xff"])
async def test_odd_bodies_never_break_the_service(demo: Api, body: bytes) -> None:
    answer = await demo.http.post("/network/v2.0/networks", content=body)
    assert answer.status_code == 400
    assert set(answer.json()["NeutronError"]) == {"type", "message", "detail"}


@pytest.mark.parametrize("verb", ["add_router_interface", "add_extraroutes", "remove_extraroutes"])
@pytest.mark.parametrize("odd", ODD)
async def test_odd_actions_never_break_the_service(demo: Api, verb: str, odd: Any) -> None:
    router = await demo.create("router")
    path = f"/network/v2.0/routers/{router['id']}/{verb}"
    bodies = ({"subnet_id": odd}, {"port_id": odd}, {"router": odd}, {"router": {"routes": odd}})
    for body in bodies:
        answer = await demo.http.put(path, json=body)
        assert answer.status_code < 500, answer.text
