"""Security groups over the API, and the rules that the fabric gets."""

import asyncio
from typing import Any

import pytest

from cloud_testing.network import Api
from cloud_testing.recording_fabric import RecordingFabric
from localcloud.fabric.interface import Direction, Rule
from localcloud.network.service import NetworkService, PortRequest, ServerPlug
from localcloud.web.http import RequestContext

DEMO = RequestContext(user_id="demo-user", project_id="demo-project", roles=("member",))


async def _default(api: Api) -> Any:
    (group,) = await api.list("security_group", "name=default")
    return group


async def all_is_declared(service: NetworkService) -> None:
    """Return when the fabric has the peers of groups, too, which are declared in the background."""
    await service.declarer.flush()
    await asyncio.gather(*asyncio.all_tasks() - {asyncio.current_task()})


async def test_every_project_has_a_default_group(demo: Api, other: Api) -> None:
    group = await _default(demo)
    rules = {
        (r["direction"], r["ethertype"], r["remote_group_id"])
        for r in group["security_group_rules"]
    }
    assert rules == {
        ("egress", "IPv4", None),
        ("egress", "IPv6", None),
        ("ingress", "IPv4", group["id"]),
        ("ingress", "IPv6", group["id"]),
    }
    assert (await _default(other))["id"] != group["id"]
    error = await demo.refused_delete("security_group", group["id"], 409)
    assert error == "SecurityGroupCannotRemoveDefault"
    error = await demo.refused_create("security_group", 409, name="default")
    assert error == "SecurityGroupDefaultAlreadyExists"


async def test_new_group_allows_egress_only(demo: Api) -> None:
    group = await demo.create("security_group", name="web")
    assert {r["direction"] for r in group["security_group_rules"]} == {"egress"}
    assert len(group["security_group_rules"]) == 2
    assert group["stateful"] is True


async def test_the_same_rule_exists_once(demo: Api) -> None:
    group = await demo.create("security_group", name="web")
    rule = {
        "security_group_id": group["id"],
        "direction": "ingress",
        "protocol": "tcp",
        "port_range_min": 80,
        "port_range_max": 80,
        "remote_ip_prefix": "10.0.0.0/8",
    }
    made = await demo.create("security_group_rule", **rule)
    assert made["ethertype"] == "IPv4"
    assert made["normalized_cidr"] == "10.0.0.0/8"
    error = await demo.refused_create("security_group_rule", 409, **rule)
    assert error == "SecurityGroupRuleExists"
    await demo.delete("security_group_rule", made["id"])
    await demo.create("security_group_rule", **rule)


@pytest.mark.parametrize(
    ("values", "error"),
    [
        (
            {"protocol": "tcp", "port_range_min": 90, "port_range_max": 80},
            "SecurityGroupInvalidPortRange",
        ),
        ({"protocol": "tcp", "port_range_min": 90}, "SecurityGroupInvalidPortRange"),
        (
            {"protocol": "tcp", "port_range_min": 0, "port_range_max": 80},
            "SecurityGroupInvalidPortValue",
        ),
        (
            {"port_range_min": 80, "port_range_max": 80},
            "SecurityGroupProtocolRequiredWithPorts",
        ),
        ({"protocol": "icmp", "port_range_max": 8}, "SecurityGroupMissingIcmpType"),
        ({"protocol": "icmp", "port_range_min": 300}, "SecurityGroupInvalidIcmpValue"),
        (
            {"protocol": "gre", "port_range_min": 1, "port_range_max": 2},
            "SecurityGroupInvalidProtocolForPort",
        ),
        ({"protocol": "nonsense"}, "SecurityGroupRuleInvalidProtocol"),
        ({"ethertype": "IPv5"}, "SecurityGroupRuleInvalidEtherType"),
        ({"remote_ip_prefix": "fd00::/8"}, "SecurityGroupRuleParameterConflict"),
        ({"direction": "sideways"}, "HTTPBadRequest"),
    ],
)
async def test_rules_that_make_no_sense_are_refused(
    demo: Api, values: dict[str, object], error: str
) -> None:
    group = await demo.create("security_group", name="web")
    body = {"security_group_id": group["id"], "direction": "ingress", **values}
    assert await demo.refused_create("security_group_rule", 400, **body) == error


async def test_a_group_in_use_stays(demo: Api) -> None:
    network, _ = await demo.net()
    group = await demo.create("security_group", name="web")
    port = await demo.create("port", network_id=network["id"], security_groups=[group["id"]])
    error = await demo.refused_delete("security_group", group["id"], 409)
    assert error == "SecurityGroupInUse"
    await demo.update("port", port["id"], security_groups=[])
    await demo.delete("security_group", group["id"])


async def test_groups_of_other_projects_cannot_be_used(demo: Api, other: Api) -> None:
    group = await demo.create("security_group", name="web")
    network, _ = await other.net()
    values = {"network_id": network["id"], "security_groups": [group["id"]]}
    assert await other.refused_create("port", 404, **values) == "SecurityGroupNotFound"
    rule = {"security_group_id": group["id"], "direction": "ingress"}
    error = await other.refused_create("security_group_rule", 404, **rule)
    assert error == "SecurityGroupNotFound"


async def _server_port(
    service: NetworkService, network_id: str, server_id: str, groups: list[str] | None = None
) -> str:
    port = await service.create_port_for_server(
        DEMO, PortRequest(network_id=network_id), ServerPlug(server_id), groups
    )
    return str(port["id"])


def _ingress(fabric: RecordingFabric, port_id: str) -> set[Rule]:
    rules = fabric.ports[port_id].rules
    assert rules is not None
    return {rule for rule in rules if rule.direction is Direction.INGRESS}


async def test_changed_rule_reaches_all_servers_of_group(
    demo: Api, fabric: RecordingFabric, network_service: NetworkService
) -> None:
    network, _ = await demo.net()
    group = await demo.create("security_group", name="web")
    ports = [
        await _server_port(network_service, network["id"], name, [group["id"]]) for name in "ab"
    ]
    assert [_ingress(fabric, port) for port in ports] == [set(), set()]
    rule = await demo.create(
        "security_group_rule",
        security_group_id=group["id"],
        direction="ingress",
        protocol="tcp",
        port_range_min=80,
        port_range_max=81,
    )
    wanted = Rule(Direction.INGRESS, "IPv4", "tcp", 80, 81, None)
    assert [_ingress(fabric, port) for port in ports] == [{wanted}, {wanted}]
    await demo.delete("security_group_rule", rule["id"])
    assert [_ingress(fabric, port) for port in ports] == [set(), set()]


async def test_new_group_member_reaches_trusting_ports(
    demo: Api, fabric: RecordingFabric, network_service: NetworkService
) -> None:
    network, _ = await demo.net()
    web = await demo.create("security_group", name="web")
    database = await demo.create("security_group", name="db")
    await demo.create(
        "security_group_rule",
        security_group_id=database["id"],
        direction="ingress",
        protocol="tcp",
        port_range_min=5432,
        port_range_max=5432,
        remote_group_id=web["id"],
    )
    database_port = await _server_port(network_service, network["id"], "db", [database["id"]])

    def remotes() -> set[tuple[str, ...] | None]:
        return {rule.remotes for rule in _ingress(fabric, database_port)}

    assert remotes() == {()}
    web_port = await _server_port(network_service, network["id"], "web", [web["id"]])
    await all_is_declared(network_service)
    assert remotes() == {("10.0.0.3/32",)}
    pairs = [{"ip_address": "10.0.0.200"}]
    await demo.update("port", web_port, allowed_address_pairs=pairs)
    await all_is_declared(network_service)
    assert remotes() == {("10.0.0.3/32", "10.0.0.200/32")}
    await network_service.release_server("web")
    await all_is_declared(network_service)
    assert remotes() == {()}


async def test_without_port_security_nothing_is_filtered(
    demo: Api, fabric: RecordingFabric, network_service: NetworkService
) -> None:
    network, _ = await demo.net()
    port = await demo.create("port", network_id=network["id"], port_security_enabled=False)
    await network_service.create_port_for_server(
        DEMO, PortRequest(port_id=port["id"]), ServerPlug("s")
    )
    assert fabric.ports[port["id"]].rules is None


async def test_address_groups_are_remote_ends(
    demo: Api, fabric: RecordingFabric, network_service: NetworkService
) -> None:
    network, _ = await demo.net()
    office = await demo.create("address_group", name="office", addresses=["10.1.0.0/16"])
    group = await demo.create("security_group", name="web")
    await demo.create(
        "security_group_rule",
        security_group_id=group["id"],
        direction="ingress",
        remote_address_group_id=office["id"],
    )
    port = await _server_port(network_service, network["id"], "s", [group["id"]])
    assert {rule.remotes for rule in _ingress(fabric, port)} == {("10.1.0.0/16",)}
    path = f"/address-groups/{office['id']}"
    body = {"addresses": ["10.2.0.1"]}
    answer = await demo.call("PUT", f"{path}/add_addresses", body)
    assert answer["address_group"]["addresses"] == ["10.1.0.0/16", "10.2.0.1/32"]
    assert {r.remotes for r in _ingress(fabric, port)} == {("10.1.0.0/16", "10.2.0.1/32")}
    error = await demo.refused("DELETE", path, None, 409)
    assert error == "AddressGroupInUse"
