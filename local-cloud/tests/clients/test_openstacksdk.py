"""openstacksdk against a running cloud."""

from typing import Any

import pytest
from openstack import exceptions

# The library warns of its own code; that is none of the cloud's business.
pytestmark = [
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),
    pytest.mark.filterwarnings("ignore::PendingDeprecationWarning"),
]


def test_a_port_gets_a_floating_ip(demo: Any) -> None:
    net = demo.network
    network = net.create_network(name="sdk")
    subnet = net.create_subnet(network_id=network.id, cidr="10.60.0.0/24", ip_version=4)
    public = net.find_network("public")
    router = net.create_router(name="sdk", external_gateway_info={"network_id": public.id})
    net.add_interface_to_router(router, subnet_id=subnet.id)
    port = net.create_port(network_id=network.id, name="sdk")
    address = net.create_ip(floating_network_id=public.id, port_id=port.id)
    assert address.status == "ACTIVE"
    assert [ip.id for ip in net.ips(port_id=port.id)] == [address.id]
    changed = net.update_ip(address, port_id=None)
    assert changed.port_id is None
    with pytest.raises(exceptions.ConflictException):
        net.delete_router(router, ignore_missing=False)
    net.delete_ip(address)
    net.delete_port(port)
    net.remove_interface_from_router(router, subnet_id=subnet.id)
    net.delete_router(router)
    net.delete_network(network)
    with pytest.raises(exceptions.NotFoundException):
        net.get_network(network.id)


def test_objects_are_found_by_name_tag_and_address(demo: Any) -> None:
    net = demo.network
    network = net.create_network(name="tagged")
    net.set_tags(network, ["blue"])
    assert [found.name for found in net.networks(tags="blue")] == ["tagged"]
    subnet = net.create_subnet(network_id=network.id, cidr="fd00:7::/64", ip_version=6)
    ports = list(net.create_ports([{"network_id": network.id}, {"network_id": network.id}]))
    wanted = ports[1].fixed_ips[0]["ip_address"]
    found = list(net.ports(fixed_ips=f"ip_address={wanted}"))
    assert [port.id for port in found] == [ports[1].id]
    assert net.find_subnet(subnet.id).cidr == "fd00:7::/64"
    assert net.find_extension("router").alias == "router"
    assert net.find_extension("qos") is None
    for port in ports:
        net.delete_port(port)
    net.delete_network(network)


def test_a_stale_revision_is_refused(demo: Any) -> None:
    net = demo.network
    network = net.create_network(name="revised")
    net.update_network(network, if_revision=network.revision_number, name="revised2")
    with pytest.raises(exceptions.PreconditionFailedException):
        net.update_network(network.id, if_revision=1, name="revised3")
    net.delete_network(network)
