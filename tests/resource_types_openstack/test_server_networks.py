"""Entries of a server's networks are compared by meaning: equivalent ports stay."""

from __future__ import annotations

import json
from typing import Any

import pytest
from tests.clouds.driving import Row
from tests.clouds.fake_cloud import FakeCloud

from stoker.resources.neutron.net import Net
from stoker.resources.neutron.port import Port
from stoker.resources.neutron.subnet import Subnet
from stoker.resources.nova.server.ports import own_ports
from stoker.resources.nova.server.server import Server
from stoker.schema.resource_type import Done

Entry = dict[str, Any]
DOWN = {"admin_state_up": False}


class Bench:
    """A server in a network, with one letter per object.

    N is the network, S the subnet, A the address of the server's first port, P that port, U a port
    of the user's, B the address of U.
    """

    def __init__(self, cloud: FakeCloud) -> None:
        self.cloud = cloud
        net = Row(Net(), cloud.connection, {"name": "private"}).create()
        subnet = Row(
            Subnet(), cloud.connection, {"network": net.physical_id, "cidr": "10.0.0.0/24"}
        ).create()
        user = Row(Port(), cloud.connection, {"network": net.physical_id}, token="u" * 12).create()
        self.words = {"N": net.physical_id, "S": subnet.physical_id, "U": user.physical_id}
        self.words["B"] = cloud.tables["ports"][str(user.physical_id)]["fixed_ips"][0]["ip_address"]
        self.row = Row(Server(), cloud.connection, {}, name="vm")

    def given(self, entries: list[Entry] | None) -> dict[str, Any]:
        networks = entries and [
            {key: self.words.get(str(value), value) for key, value in entry.items()}
            for entry in entries
        ]
        basic = {"image": "img", "flavor": "small", "user_data_format": "RAW"}
        return {**basic, **({"networks": networks} if networks is not None else {})}

    def create(self, entries: list[Entry] | None) -> None:
        self.row.given = self.given(entries)
        self.row.create()
        for port in self.ports().values():
            if port["id"] != self.words["U"]:
                self.words.setdefault("P", port["id"])
                self.words.setdefault("A", port["fixed_ips"][0]["ip_address"])

    def update(self, entries: list[Entry] | None) -> None:
        assert isinstance(self.row.update(**self.given(entries)), Done)

    def ports(self) -> dict[str, Any]:
        found = [p for p in self.cloud.all("ports") if p["device_id"] == self.row.physical_id]
        return {port["id"]: port for port in found}


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ([{"network": "N"}], [{"subnet": "S"}]),
        ([{"subnet": "S"}], [{"network": "N"}]),
        ([{"network": "N"}], [{"network": "N", "subnet": "S"}]),
        ([{"network": "N"}], [{"network": "N", "fixed_ip": "A"}]),
        ([{"network": "N", "fixed_ip": "10.0.0.99"}], [{"network": "N"}]),
        ([{"network": "N", "fixed_ip": "10.0.0.99"}], [{"subnet": "S", "fixed_ip": "10.0.0.99"}]),
        ([{"network": "N"}], [{"port": "P"}]),
        (
            [{"network": "N"}, {"network": "N", "fixed_ip": "10.0.0.99"}],
            [{"network": "N", "fixed_ip": "10.0.0.99"}, {"network": "N"}],
        ),
        ([{"network": "N"}, {"port": "U"}], [{"port": "U"}, {"subnet": "S"}]),
        ([{"network": "N"}, {"network": "N"}], [{"subnet": "S"}, {"network": "N"}]),
        (
            [{"network": "N"}],
            [{"network": "N", "port_extra_properties": {"admin_state_up": False}}],
        ),
        ([{"port": "U"}], [{"network": "N", "fixed_ip": "B"}]),
    ],
)
def test_port_that_fits_new_entry_stays(
    cloud: FakeCloud, before: list[Entry], after: list[Entry]
) -> None:
    bench = Bench(cloud)
    bench.create(before)
    ports = {port_id: port["fixed_ips"] for port_id, port in bench.ports().items()}
    bench.update(after)
    assert {port_id: port["fixed_ips"] for port_id, port in bench.ports().items()} == ports
    assert cloud.detached == []
    bench.update(before)
    assert bench.ports().keys() == ports.keys()
    assert bench.row.delete() == Done()
    assert [port["id"] for port in cloud.all("ports")] == [bench.words["U"]]


@pytest.mark.parametrize(
    ("before", "after", "stay", "ports_after"),
    [
        ([{"network": "N"}], [{"network": "N", "fixed_ip": "10.0.0.77"}], False, 1),
        ([{"network": "N"}], [{"network": "N"}, {"network": "N"}], True, 2),
        ([{"network": "N"}, {"network": "N"}], [{"network": "N"}], True, 1),
        ([{"network": "N"}], [{"port": "U"}], False, 1),
        ([{"network": "N"}], [{"network": "N"}, {"port": "U"}], True, 2),
        ([{"network": "N"}, {"port": "U"}], [{"network": "N"}], True, 1),
        ([{"network": "N"}], [{"subnet": "S"}, {"network": "N", "fixed_ip": "10.0.0.7"}], True, 2),
        ([{"network": "N"}], [{"allocate_network": "none"}], False, 0),
        ([{"network": "N"}], None, False, 1),
    ],
)
def test_unfit_ports_leave_and_missing_ones_are_created(
    cloud: FakeCloud, before: list[Entry], after: list[Entry], stay: bool, ports_after: int
) -> None:
    bench = Bench(cloud)
    bench.create(before)
    bench.update(after)
    assert (bench.words["P"] in bench.ports()) is stay
    assert len(bench.ports()) == ports_after
    left = [port for port in cloud.all("ports") if not port["device_id"]]
    assert [port["id"] for port in left] == [bench.words["U"]] * (
        bench.words["U"] not in bench.ports()
    )
    assert len(cloud.detached) == len(set(cloud.detached))


def test_cloud_chosen_ports_are_replaced_by_entries(
    cloud: FakeCloud,
) -> None:
    bench = Bench(cloud)
    bench.create(None)
    made = cloud.put("ports", **port_of(bench), device_id=bench.row.physical_id, description="")
    bench.update([{"subnet": "S"}])
    assert list(bench.ports()) == [made]
    bench.update([{"port": "U"}])
    assert list(bench.ports()) == [bench.words["U"]]


def port_of(bench: Bench) -> dict[str, Any]:
    address = {"subnet_id": bench.words["S"], "ip_address": "10.0.0.200"}
    return {"network_id": bench.words["N"], "name": "", "fixed_ips": [address]}


def test_floating_ips_follow_their_entries(cloud: FakeCloud) -> None:
    bench = Bench(cloud)
    first, second = (cloud.put("floatingips", port_id=None) for _ in range(2))
    bench.create([{"network": "N", "floating_ip": first}])
    bench.update([{"subnet": "S", "floating_ip": second}])
    floating = cloud.tables["floatingips"]
    assert floating[first]["port_id"] is None
    assert floating[second]["port_id"] == bench.words["P"]


def test_port_given_to_replacement_goes_with_it(cloud: FakeCloud) -> None:
    bench = Bench(cloud)
    bench.create([{"network": "N"}])
    bench.update([{"port": "P"}])
    assert bench.row.run("RELEASE") == Done()
    new = Row(Server(), cloud.connection, bench.row.given, name="vm", token="zzzzzzzz2345").create()
    assert bench.row.delete() == Done()
    assert cloud.tables["ports"][bench.words["P"]]["device_id"] == new.physical_id
    assert new.delete() == Done()
    assert [port["id"] for port in cloud.all("ports")] == [bench.words["U"]]


def test_adopted_server_owns_ports_created_for_it(cloud: FakeCloud) -> None:
    bench = Bench(cloud)
    bench.create([{"network": "N"}, {"port": "U"}])
    adopted = Row(Server(), cloud.connection, bench.row.given, name="other", token="n" * 12)
    adopted.physical_id = bench.row.physical_id
    for _ in range(2):
        Server().claim(adopted.call("ADOPT"))
        assert [port["id"] for port in own_ports(adopted.call("ADOPT")).values()] == [
            bench.words["P"]
        ]
        assert own_ports(bench.row.call("READ")) == {}
    user = cloud.tables["ports"][bench.words["U"]]
    assert user["description"] == ""
    assert isinstance(adopted.update(**bench.given([{"network": "N"}])), Done)
    assert bench.ports().keys() == {bench.words["P"]}
    assert isinstance(adopted.delete(), Done)
    assert {port["id"] for port in cloud.all("ports")} == {bench.words["U"]}


@pytest.mark.parametrize("listed", [True, "[5]", "{bad", 5, None])
def test_adopted_server_owns_listed_ports_it_has(cloud: FakeCloud, listed: Any) -> None:
    bench = Bench(cloud)
    bench.create([{"network": "N"}])
    port, users = (cloud.tables["ports"][bench.words[word]] for word in "PU")
    port |= {"name": "by-heat", "description": ""}
    text = json.dumps([{"id": port["id"]}, {"id": users["id"]}]) if listed is True else listed
    adopted = Row(Server(), cloud.connection, bench.row.given, name="other", token="n" * 12)
    adopted.physical_id, adopted.data = bench.row.physical_id, {"internal_ports": text}
    Server().claim(adopted.call("ADOPT"))
    found = {port["id"] for port in own_ports(adopted.call("READ")).values()}
    assert found == ({port["id"]} if listed is True else set())


def test_server_from_heat_is_deleted_with_its_ports(cloud: FakeCloud) -> None:
    bench = Bench(cloud)
    bench.create([{"network": "N"}])
    port = cloud.tables["ports"][bench.words["P"]]
    port |= {"name": "by-heat", "description": ""}
    taken = Row(Server(), cloud.connection, bench.row.given, name="taken", token="t" * 12)
    taken.physical_id = bench.row.physical_id
    taken.data = {"internal_ports": json.dumps([{"id": port["id"]}])}
    assert taken.delete() == Done()
    assert [port["id"] for port in cloud.all("ports")] == [bench.words["U"]]


def test_update_of_server_from_heat_keeps_its_port(cloud: FakeCloud) -> None:
    bench = Bench(cloud)
    bench.create([{"network": "N"}])
    port = cloud.tables["ports"][bench.words["P"]]
    port |= {"name": "by-heat", "description": ""}
    bench.row.data = {"internal_ports": json.dumps([{"id": port["id"]}])}
    bench.update([{"subnet": "S"}])
    assert bench.ports().keys() == {bench.words["P"]}
