from __future__ import annotations

from typing import Any

import pytest
from tests.clouds.driving import Row, failure
from tests.clouds.fake_cloud import FakeCloud

from stoker.resources.neutron.ec2_eip_association import ElasticIpAssociation
from stoker.resources.neutron.floating_ip import FloatingIP
from stoker.resources.neutron.floating_ip_association import FloatingIPAssociation
from stoker.resources.neutron.net import Net
from stoker.resources.neutron.port import Port
from stoker.resources.neutron.router import Router
from stoker.resources.neutron.router_interface import RouterInterface
from stoker.resources.neutron.subnet import Subnet
from stoker.schema.resource_type import Done, Failed, ResourceType


def made(cloud: FakeCloud, kind: ResourceType, **given: Any) -> Row:
    return Row(kind, cloud.connection, given).create()


def subnet_of(cloud: FakeCloud, **given: Any) -> tuple[Row, Row]:
    net = made(cloud, Net())
    subnet = made(cloud, Subnet(), network=net.physical_id, cidr="10.0.0.0/24", **given)
    return net, subnet


def test_network_has_physical_name_and_attributes(cloud: FakeCloud) -> None:
    net = made(cloud, Net())
    assert cloud.all("networks")[0]["name"] == "web-thing-abcdefgh2345"
    assert net.read()["show"]["id"] == net.physical_id
    assert net.read()["status"] == "ACTIVE"


@pytest.mark.parametrize("kind", [Net(), Router()])
def test_object_in_error_fails_in_heats_words(cloud: FakeCloud, kind: ResourceType) -> None:
    row = made(cloud, kind)
    table = "networks" if isinstance(kind, Net) else "routers"
    cloud.all(table)[0]["status"] = "ERROR"
    failed = row.run("CREATE")
    assert isinstance(failed, Failed)
    assert failed.kind == "ResourceInError"
    assert failed.reason == 'Went to status ERROR due to "Unknown"'


def test_network_with_user_name_has_a_marker(cloud: FakeCloud) -> None:
    made(cloud, Net(), name="blue")
    assert cloud.all("networks")[0]["description"] == "stoker:abcdefgh2345"


@pytest.mark.parametrize("given", [{}, {"name": "blue"}])
def test_network_with_lost_response_is_found_again(cloud: FakeCloud, given: dict[str, Any]) -> None:
    cloud.lose_answer("POST", "/networks")
    net = made(cloud, Net(), **given)
    assert [item["id"] for item in cloud.all("networks")] == [net.physical_id]


def test_broken_connection_fails_after_retries(cloud: FakeCloud) -> None:
    for _ in range(20):
        cloud.refuse("POST", "/networks", 504, "the gateway timed out")
    with pytest.raises(Exception, match="the gateway timed out"):
        made(cloud, Net())
    assert cloud.all("networks") == []


def test_exceeded_quota_fails_immediately(
    cloud: FakeCloud,
) -> None:
    cloud.refuse("POST", "/networks", 409, "Quota exceeded for resources: ['network'].")
    outcome = Row(Net(), cloud.connection, {}).run("CREATE")
    assert "Quota exceeded for resources: ['network']." in failure(outcome)
    assert "req-fake" in failure(outcome)


def test_a_network_is_renamed_and_tagged_in_place(cloud: FakeCloud) -> None:
    net = made(cloud, Net(), tags=["a"])
    before = net.physical_id
    assert cloud.all("networks")[0]["tags"] == ["a"]
    assert isinstance(net.update(name="green", tags=["b"], admin_state_up=False), Done)
    found = cloud.all("networks")[0]
    assert (found["id"], found["name"], found["tags"]) == (before, "green", ["b"])
    assert found["admin_state_up"] is False


def test_network_without_name_gets_its_physical_name(cloud: FakeCloud) -> None:
    net = made(cloud, Net(), name="green")
    net.update()
    assert cloud.all("networks")[0]["name"] == "web-thing-abcdefgh2345"


def test_value_specs_become_fields_of_the_object(cloud: FakeCloud) -> None:
    made(cloud, Net(), value_specs={"provider:network_type": "vlan"})
    assert cloud.all("networks")[0]["provider:network_type"] == "vlan"


def test_deleting_twice_is_fine(cloud: FakeCloud) -> None:
    net = made(cloud, Net())
    assert net.delete() == Done()
    assert net.delete() == Done()
    assert cloud.all("networks") == []


def test_a_network_that_is_gone_fails_its_check(cloud: FakeCloud) -> None:
    net = made(cloud, Net())
    cloud.tables["networks"].clear()
    assert "no longer exists" in failure(net.run("CHECK"))


def test_an_empty_gateway_means_no_gateway(cloud: FakeCloud) -> None:
    subnet_of(cloud, gateway_ip="")
    assert cloud.all("subnets")[0]["gateway_ip"] is None


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({}, "one of cidr and subnetpool"),
        ({"cidr": "10.0.0.0/24", "subnetpool": "p"}, "exclude each other"),
        ({"cidr": "10.0.0.0/24", "ip_version": 4, "ipv6_ra_mode": "slaac"}, "needs ip_version 6"),
    ],
)
def test_a_subnet_that_contradicts_itself_is_refused(given: dict[str, Any], message: str) -> None:
    assert any(message in finding.message for finding in Subnet().validate(given))


def test_port_shows_address_subnets_and_network(cloud: FakeCloud) -> None:
    net, subnet = subnet_of(cloud)
    port = made(cloud, Port(), network=net.physical_id, tags=["x"])
    read = port.read()
    assert read["subnets"][0]["id"] == subnet.physical_id
    assert read["network"]["id"] == net.physical_id
    assert port.attributes["fixed_ips"][0]["ip_address"].startswith("10.0.0.")
    assert cloud.all("ports")[0]["tags"] == ["x"]


def test_port_finds_security_groups_by_name_and_id(cloud: FakeCloud) -> None:
    net, _ = subnet_of(cloud)
    group = cloud.put("security-groups", name="web")
    made(cloud, Port(), network=net.physical_id, security_groups=["web", group])
    assert cloud.all("ports")[0]["security_groups"] == [group]


def test_a_port_without_fixed_addresses_asks_for_none(cloud: FakeCloud) -> None:
    net, _ = subnet_of(cloud)
    made(cloud, Port(), network=net.physical_id, no_fixed_ips=True)
    assert cloud.all("ports")[0]["fixed_ips"] == []


def test_a_port_is_changed_in_place(cloud: FakeCloud) -> None:
    net, subnet = subnet_of(cloud)
    port = made(cloud, Port(), network=net.physical_id)
    pair = {"ip_address": "10.0.0.99"}
    port.update(
        network=net.physical_id,
        allowed_address_pairs=[pair],
        fixed_ips=[{"subnet": subnet.physical_id, "ip_address": "10.0.0.77"}],
    )
    found = cloud.all("ports")[0]
    assert found["allowed_address_pairs"] == [pair]
    assert found["fixed_ips"] == [{"subnet_id": subnet.physical_id, "ip_address": "10.0.0.77"}]


def test_a_router_gets_and_loses_its_gateway(cloud: FakeCloud) -> None:
    net, subnet = subnet_of(cloud)
    gateway = {
        "network": net.physical_id,
        "external_fixed_ips": [{"subnet": subnet.physical_id}],
    }
    router = made(cloud, Router(), external_gateway_info=gateway)
    assert cloud.all("routers")[0]["external_gateway_info"] == {
        "network_id": net.physical_id,
        "external_fixed_ips": [{"subnet_id": subnet.physical_id}],
    }
    router.update()
    assert cloud.all("routers")[0]["external_gateway_info"] == {}


def test_a_router_interface_is_added_once_and_removed(cloud: FakeCloud) -> None:
    _, subnet = subnet_of(cloud)
    router = made(cloud, Router())
    given = {"router": router.physical_id, "subnet": subnet.physical_id}
    leg = Row(RouterInterface(), cloud.connection, given)
    cloud.lose_answer("PUT", "/routers")
    leg.create()
    assert leg.physical_id == f"{router.physical_id}:subnet_id={subnet.physical_id}"
    assert len(cloud.all("ports")) == 1
    assert leg.delete() == Done()
    assert leg.delete() == Done()
    assert cloud.all("ports") == []


def test_a_floating_ip_is_found_by_its_marker(cloud: FakeCloud) -> None:
    net = made(cloud, Net())
    cloud.lose_answer("POST", "/floatingips")
    address = made(cloud, FloatingIP(), floating_network=net.physical_id)
    assert [item["id"] for item in cloud.all("floatingips")] == [address.physical_id]
    assert address.attributes["floating_ip_address"].startswith("203.0.113.")


def test_association_releases_only_its_own_port(cloud: FakeCloud) -> None:
    net, _ = subnet_of(cloud)
    port = made(cloud, Port(), network=net.physical_id)
    address = made(cloud, FloatingIP(), floating_network=net.physical_id)
    given = {"floatingip_id": address.physical_id, "port_id": port.physical_id}
    link = made(cloud, FloatingIPAssociation(), **given)
    floating = cloud.all("floatingips")[0]
    assert floating["port_id"] == port.physical_id
    floating["port_id"] = "another"
    link.delete()
    assert floating["port_id"] == "another"
    floating["port_id"] = port.physical_id
    link.delete()
    assert floating["port_id"] is None


@pytest.mark.parametrize("given", ["EIP", "AllocationId"])
def test_association_with_id_of_heat_is_deleted(cloud: FakeCloud, given: str) -> None:
    """Heat's ids are the address or the floating IP, and do not name the port of the server."""
    net, _ = subnet_of(cloud)
    port = made(cloud, Port(), network=net.physical_id)
    cloud.all("ports")[0]["device_id"] = "server"
    made(cloud, FloatingIP(), floating_network=net.physical_id, port_id=port.physical_id)
    floating = cloud.all("floatingips")[0]
    physical_id = floating["floating_ip_address" if given == "EIP" else "id"]
    properties = {given: physical_id, "InstanceId": "server"}
    link = Row(ElasticIpAssociation(), cloud.connection, properties, physical_id=physical_id)
    assert link.run("CHECK") == Done()
    assert link.delete() == Done()
    assert floating["port_id"] is None
    assert isinstance(link.run("CHECK"), Failed)


def test_association_of_deleted_server_is_deleted(cloud: FakeCloud) -> None:
    properties = {"EIP": "203.0.113.9", "InstanceId": "gone"}
    link = Row(ElasticIpAssociation(), cloud.connection, properties, physical_id="203.0.113.9")
    assert link.delete() == Done()


def test_association_with_number_of_heat_is_deleted(cloud: FakeCloud) -> None:
    net, _ = subnet_of(cloud)
    port = made(cloud, Port(), network=net.physical_id)
    address = made(cloud, FloatingIP(), floating_network=net.physical_id, port_id=port.physical_id)
    given = {"floatingip_id": address.physical_id, "port_id": port.physical_id}
    link = Row(FloatingIPAssociation(), cloud.connection, given, physical_id="17")
    assert link.run("CHECK") == Done()
    assert link.delete() == Done()
    assert cloud.all("floatingips")[0]["port_id"] is None


def test_old_names_of_required_properties_are_understood(cloud: FakeCloud) -> None:
    net = made(cloud, Net())
    made(cloud, Subnet(), network_id=net.physical_id, cidr="10.0.0.0/24")
    assert cloud.all("subnets")[0]["network_id"] == net.physical_id


def test_port_releases_and_reclaims_chosen_address(cloud: FakeCloud) -> None:
    net = Row(Net(), cloud.connection, {"name": "n"}).create()
    given = {"network": net.physical_id, "fixed_ips": [{"ip_address": "10.0.0.200"}]}
    old = Row(Port(), cloud.connection, given).create()
    floating = cloud.put("floatingips", port_id=old.physical_id, fixed_ip_address="10.0.0.200")
    assert old.run("RELEASE") == Done()
    assert old.run("RELEASE") == Done()
    assert cloud.tables["floatingips"][floating]["port_id"] is None
    new = Row(Port(), cloud.connection, given, token="zzzzzzzz2345").create()
    assert new.run("RELEASE") == Done()
    assert isinstance(old.run("RECLAIM"), Done)
    ports = cloud.tables["ports"]
    assert ports[str(old.physical_id)]["fixed_ips"][0]["ip_address"] == "10.0.0.200"
    assert ports[str(new.physical_id)]["fixed_ips"] == []
    assert cloud.tables["floatingips"][floating]["port_id"] == old.physical_id
    assert dict(old.data) == {}


def test_port_keeps_address_chosen_by_cloud(cloud: FakeCloud) -> None:
    net = Row(Net(), cloud.connection, {"name": "n"}).create()
    Row(Subnet(), cloud.connection, {"network": net.physical_id, "cidr": "10.0.0.0/24"}).create()
    port = Row(Port(), cloud.connection, {"network": net.physical_id}).create()
    assert port.run("RELEASE") == Done()
    assert cloud.tables["ports"][str(port.physical_id)]["fixed_ips"]
