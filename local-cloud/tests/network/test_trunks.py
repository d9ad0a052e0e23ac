"""Trunks over the API, and the ports that belong to them."""

from typing import Any

import pytest

from cloud_testing.network import Api


async def ports(demo: Api, count: int) -> list[Any]:
    network, _ = await demo.net()
    return [await demo.create("port", network_id=network["id"]) for _ in range(count)]


def tagged(port: Any, tag: int) -> dict[str, Any]:
    return {"port_id": port["id"], "segmentation_id": tag, "segmentation_type": "vlan"}


async def act(demo: Api, trunk: Any, verb: str, subports: Any, expect: int = 200) -> Any:
    path = f"/trunks/{trunk['id']}/{verb}"
    return await demo.call("PUT", path, {"sub_ports": subports}, expect)


async def test_extension_is_listed(demo: Api) -> None:
    assert (await demo.call("GET", "/extensions/trunk"))["extension"]["alias"] == "trunk"
    assert await demo.list("trunk") == []


async def test_trunk_is_made_changed_and_deleted(demo: Api) -> None:
    parent, first = await ports(demo, 2)
    subports = [tagged(first, 10)]
    trunk = await demo.create("trunk", port_id=parent["id"], name="t", sub_ports=subports)
    assert (trunk["port_id"], trunk["sub_ports"]) == (parent["id"], subports)
    assert (trunk["status"], trunk["admin_state_up"]) == ("DOWN", True)
    changed = await demo.update("trunk", trunk["id"], name="u", description="d")
    assert (changed["name"], changed["description"]) == ("u", "d")
    assert [each["id"] for each in await demo.list("trunk", f"port_id={parent['id']}")] == [
        trunk["id"]
    ]
    await demo.delete("trunk", trunk["id"])
    assert await demo.list("trunk") == []
    for port in (parent, first):
        await demo.delete("port", port["id"])


async def test_subports_are_added_and_removed(demo: Api) -> None:
    parent, first, second = await ports(demo, 3)
    trunk = await demo.create("trunk", port_id=parent["id"])
    both = [tagged(first, 10), tagged(second, 20)]
    assert (await act(demo, trunk, "add_subports", both))["sub_ports"] == both
    shown = await demo.show("port", first["id"])
    assert (shown["device_owner"], shown["device_id"]) == ("trunk:subport", trunk["id"])
    details = (await demo.show("port", parent["id"]))["trunk_details"]
    assert details["trunk_id"] == trunk["id"]
    assert details["sub_ports"][0] == {**both[0], "mac_address": first["mac_address"]}
    left = await act(demo, trunk, "remove_subports", [{"port_id": first["id"]}])
    assert left["sub_ports"] == [both[1]]
    path = f"/trunks/{trunk['id']}/get_subports"
    assert await demo.call("GET", path) == {"sub_ports": [both[1]]}
    assert (await demo.show("port", first["id"]))["device_owner"] == ""
    await demo.delete("port", first["id"])


async def test_port_belongs_to_one_trunk_only(demo: Api) -> None:
    parent, sub, other = await ports(demo, 3)
    trunk = await demo.create("trunk", port_id=parent["id"], sub_ports=[tagged(sub, 10)])
    assert await demo.refused_create("trunk", 409, port_id=parent["id"]) == "ParentPortInUse"
    assert await demo.refused_create("trunk", 409, port_id=sub["id"]) == "PortInUseAsSubPort"
    for port, tag, error in (
        (sub, 11, "PortInUseAsSubPort"),
        (parent, 11, "ParentPortInUse"),
        (other, 10, "DuplicateSubPort"),
    ):
        answer = await act(demo, trunk, "add_subports", [tagged(port, tag)], 409)
        assert answer["NeutronError"]["type"] == error
    again = await demo.create("trunk", port_id=other["id"])
    answer = await act(demo, again, "add_subports", [tagged(sub, 30)], 409)
    assert answer["NeutronError"]["type"] == "PortInUseAsSubPort"
    assert (await demo.show("trunk", again["id"]))["sub_ports"] == []


async def test_ports_of_a_trunk_are_not_deleted(demo: Api) -> None:
    parent, sub = await ports(demo, 2)
    await demo.create("trunk", port_id=parent["id"], sub_ports=[tagged(sub, 10)])
    assert await demo.refused_delete("port", parent["id"], 409) == "PortInUseAsTrunkParent"
    assert await demo.refused_delete("port", sub["id"], 409) == "PortInUseAsSubPort"


async def test_disabled_trunk_keeps_its_subports(demo: Api) -> None:
    parent, sub = await ports(demo, 2)
    trunk = await demo.create("trunk", port_id=parent["id"], admin_state_up=False)
    answer = await act(demo, trunk, "add_subports", [tagged(sub, 10)], 409)
    assert answer["NeutronError"]["type"] == "TrunkDisabled"
    assert await demo.refused_delete("trunk", trunk["id"], 409) == "TrunkDisabled"
    await demo.update("trunk", trunk["id"], admin_state_up=True)
    await act(demo, trunk, "add_subports", [tagged(sub, 10)])
    await demo.delete("trunk", trunk["id"])


@pytest.mark.parametrize(
    "subport",
    [
        {"segmentation_id": 0, "segmentation_type": "vlan"},
        {"segmentation_id": 4095, "segmentation_type": "vlan"},
        {"segmentation_id": 10, "segmentation_type": "vxlan"},
        {"segmentation_id": 10},
        {},
    ],
)
async def test_wrong_tags_are_refused(demo: Api, subport: dict[str, Any]) -> None:
    parent, sub = await ports(demo, 2)
    trunk = await demo.create("trunk", port_id=parent["id"])
    await act(demo, trunk, "add_subports", [{**subport, "port_id": sub["id"]}], 400)
    assert (await demo.show("port", sub["id"]))["device_owner"] == ""


async def test_trunk_takes_no_ports_of_other_projects(demo: Api, other: Api) -> None:
    (parent,) = await ports(demo, 1)
    (foreign,) = await ports(other, 1)
    assert await demo.refused_create("trunk", 404, port_id=foreign["id"]) == "PortNotFound"
    trunk = await demo.create("trunk", port_id=parent["id"])
    await act(demo, trunk, "add_subports", [tagged(foreign, 10)], 404)
    await act(demo, trunk, "remove_subports", [{"port_id": foreign["id"]}], 404)
    await act(other, trunk, "add_subports", [tagged(foreign, 10)], 404)
