"""Every type through the real SDK against a local cloud: create, read, update, delete."""

from __future__ import annotations

import time
from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import pytest
from tests.clouds.driving import Row
from tests.clouds.local_cloud import LocalCloud, running_cloud

from stoker.clouds.cloud_access import CloudAccess
from stoker.clouds.objects.collections import FLAVORS, IMAGES, NETWORKS, PORTS, SERVERS
from stoker.clouds.objects.lookups import LookupFailedError, Lookups
from stoker.clouds.objects.quotas import quotas_for
from stoker.kernel.clock import SystemClock
from stoker.kernel.ids import RandomIds
from stoker.kernel.values import replace
from stoker.resources.neutron.address_scope import AddressScope
from stoker.resources.neutron.extra_route_set import ExtraRouteSet
from stoker.resources.neutron.floating_ip import FloatingIP
from stoker.resources.neutron.floating_ip_association import FloatingIPAssociation
from stoker.resources.neutron.net import Net
from stoker.resources.neutron.port import Port
from stoker.resources.neutron.provider_net import ProviderNet
from stoker.resources.neutron.rbac_policy import RBACPolicy
from stoker.resources.neutron.router import Router
from stoker.resources.neutron.router_interface import RouterInterface
from stoker.resources.neutron.security_group import SecurityGroup
from stoker.resources.neutron.security_group_rule import SecurityGroupRule
from stoker.resources.neutron.subnet import Subnet
from stoker.resources.neutron.subnet_pool import SubnetPool
from stoker.resources.nova.flavor import Flavor
from stoker.resources.nova.keypair import KeyPair
from stoker.resources.nova.server.server import Server
from stoker.resources.nova.server_group import ServerGroup
from stoker.resources.shared.signals.server_software import polling_metadata as told_to
from stoker.schema.properties import Finder
from stoker.schema.resource_type import Call, Done, Outcome, ResourceType, Wait


@pytest.fixture(scope="module")
def local(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LocalCloud]:
    with running_cloud(tmp_path_factory.mktemp("cloud")) as cloud:
        yield cloud


class LiveRow(Row):
    """A row whose waits take real time, up to a minute for an action."""

    def run(self, action: str, limit: int = 400, **changes: Any) -> Outcome:
        method = getattr(self.type, action.lower())
        progress: Any = {}
        started = time.time()
        for _ in range(limit):
            call: Call = replace(
                self.call(action, progress), started_at=started, now=time.time(), **changes
            )
            outcome: Outcome = method(call)
            self.note(outcome)
            if not isinstance(outcome, Wait):
                return outcome
            assert time.time() < started + 60, outcome
            progress = progress if outcome.progress is None else outcome.progress
            time.sleep(min(outcome.after, 0.3))
        raise AssertionError(f"{action} still waits: {outcome}")


@pytest.fixture
def made(local: LocalCloud) -> Iterator[Any]:
    """Makes rows, and deletes them in reverse order at the end."""
    rows: list[Row] = []
    connection = local.connection()

    def make(kind: ResourceType, cloud: Any = connection, **given: Any) -> Row:
        token = RandomIds().token()
        row = LiveRow(kind, cloud, given, token=token, name=f"r{len(rows)}")
        rows.append(row)
        row.create()
        return row

    yield make
    for row in reversed(rows):
        assert isinstance(row.delete(), Done)
        assert isinstance(row.delete(), Done)


@pytest.fixture
def subnet(made: Any) -> tuple[Row, Row]:
    net = made(Net(), tags=["one"])
    return net, made(Subnet(), network=net.physical_id, cidr="10.9.0.0/24")


def test_a_network_lives(made: Any, local: LocalCloud) -> None:
    row = made(Net(), tags=["one"])
    assert row.read()["name"] == row.call("READ").physical_name
    assert isinstance(row.update(name="blue", tags=["two"], admin_state_up=False), Done)
    found = NETWORKS.get(local.connection(), row.physical_id)
    assert (found["name"], found["tags"], found["admin_state_up"]) == ("blue", ["two"], False)
    assert isinstance(row.run("CHECK"), Done)
    named = made(Net(), name="red")
    assert Net().find(named.call("CREATE")) == named.physical_id


@pytest.mark.parametrize(
    ("kind", "given"),
    [
        (Net(), {"port_security_enabled": False, "dns_domain": "example."}),
        (SecurityGroup(), {"stateful": False}),
    ],
)
def test_properties_that_go_away_are_reset(
    made: Any, kind: ResourceType, given: dict[str, Any]
) -> None:
    row = made(kind, name="thing")
    before = {name: row.read()["show"].get(name) for name in given}
    assert isinstance(row.update(name="thing", **given), Done)
    assert isinstance(row.update(name="thing"), Done)
    assert {name: row.read()["show"].get(name) for name in given} == before


def test_removed_properties_of_port_are_reset(made: Any, subnet: tuple[Row, Row]) -> None:
    basic = {"network": subnet[0].physical_id}
    row = made(Port(), **basic)
    changed = {**basic, "port_security_enabled": False, "security_groups": [], "dns_name": "www"}
    assert isinstance(row.update(**changed), Done)
    assert isinstance(row.update(**basic), Done)
    found = row.read()["show"]
    assert (found["port_security_enabled"], found["dns_name"]) == (True, "")
    assert len(found["security_groups"]) == 1


def test_a_subnet_lives(subnet: tuple[Row, Row]) -> None:
    net, row = subnet
    assert row.read()["cidr"] == "10.9.0.0/24"
    given = {**row.given, "dns_nameservers": ["192.0.2.1"], "enable_dhcp": False}
    assert isinstance(row.update(**given), Done)
    assert row.read()["dns_nameservers"] == ["192.0.2.1"]
    assert net.read()["subnets"] == [row.physical_id]


def test_a_port_and_a_security_group_live(made: Any, subnet: tuple[Row, Row]) -> None:
    net, under = subnet
    ssh = {"protocol": "tcp", "port_range_min": 22, "port_range_max": 22}
    group = made(SecurityGroup(), name="doors", description="all doors", rules=[ssh])
    rules = group.read()["show"]["security_group_rules"]
    assert len(rules) == 3
    web = {**ssh, "port_range_min": 80, "port_range_max": 80}
    assert isinstance(group.update(name="doors", rules=[web]), Done)
    rules = group.read()["show"]["security_group_rules"]
    assert [r["port_range_min"] for r in rules if r["direction"] == "ingress"] == [80]
    rule = made(SecurityGroupRule(), security_group=group.physical_id, protocol="icmp")
    assert rule.type.find(rule.call("CREATE")) == rule.physical_id
    port = made(Port(), network=net.physical_id, security_groups=["doors"], tags=["p"])
    read = port.read()
    assert read["security_groups"] == [group.physical_id]
    assert read["subnets"][0]["id"] == under.physical_id
    fixed = [{"subnet": under.physical_id, "ip_address": "10.9.0.99"}]
    assert isinstance(port.update(network=net.physical_id, fixed_ips=fixed), Done)
    assert port.read()["fixed_ips"][0]["ip_address"] == "10.9.0.99"


def test_router_leads_out_and_floating_ip_in(
    made: Any, subnet: tuple[Row, Row], local: LocalCloud
) -> None:
    net, under = subnet
    lookups = Lookups(SystemClock())
    public = lookups.find(local.connection(), Finder("network", "network"), "public")
    router = made(Router(), external_gateway_info={"network": public})
    leg = made(RouterInterface(), router=router.physical_id, subnet=under.physical_id)
    assert leg.type.find(leg.call("CREATE")) == leg.physical_id
    assert isinstance(leg.create(), Row)
    routes = [{"destination": "10.77.0.0/24", "nexthop": "10.9.0.50"}]
    route_set = made(ExtraRouteSet(), router=router.physical_id, routes=routes)
    assert isinstance(route_set.run("CHECK"), Done)
    present = [{"destination": "10.78.0.0/24", "nexthop": "10.9.0.50"}, *routes]
    second = made(ExtraRouteSet(), router=router.physical_id, routes=present)
    assert isinstance(second.delete(), Done)
    assert isinstance(route_set.run("CHECK"), Done)  # its routes were there before the second set
    port = made(Port(), network=net.physical_id)
    address = made(FloatingIP(), floating_network=public)
    link = made(
        FloatingIPAssociation(), floatingip_id=address.physical_id, port_id=port.physical_id
    )
    assert isinstance(link.run("CHECK"), Done)
    assert address.read()["port_id"] == port.physical_id
    assert address.read()["router_id"] == router.physical_id
    assert address.type.find(address.call("CREATE")) == address.physical_id


def test_a_key_pair_keeps_its_private_key(made: Any) -> None:
    row = made(KeyPair(), name="mine", save_private_key=True)
    assert row.physical_id == "mine"
    assert "PRIVATE KEY" in row.read()["private_key"]
    assert row.read()["public_key"].startswith("ssh-rsa ")


def test_a_server_group_lives(made: Any) -> None:
    assert made(ServerGroup(), policies=["affinity"]).read()["show"]["name"]


def test_a_flavor_lives(made: Any, local: LocalCloud) -> None:
    admin = local.connection("admin")
    row = made(Flavor(), admin, ram=64, vcpus=1, extra_specs={"a": "1"})
    assert row.read()["extra_specs"] == {"a": "1"}
    assert isinstance(row.update(ram=64, vcpus=1, extra_specs={"b": "2"}), Done)
    assert row.read()["extra_specs"] == {"b": "2"}


def test_a_server_lives(made: Any, subnet: tuple[Row, Row], local: LocalCloud) -> None:
    net, _ = subnet
    cloud = local.connection()
    image = IMAGES.select(cloud)[0]["id"]
    small, large = [flavor["id"] for flavor in FLAVORS.select(cloud)[:2]]
    given = {
        "image": image,
        "flavor": small,
        "networks": [{"network": net.physical_id}],
        "user_data_format": "RAW",
        "user_data": "#!/bin/sh\necho hello",
        "metadata": {"a": "1"},
        "name": "mail",
        "tags": ["t"],
    }
    row = made(Server(), **given)
    read = row.read()
    assert read["first_address"].startswith("10.9.0.")
    assert read["networks"][net.physical_id] == [read["first_address"]]
    [port] = PORTS.select(cloud, device_id=row.physical_id)
    addresses = read["addresses"][net.physical_id]
    assert addresses[0]["port"] == port["id"]
    assert read["tags"] == ["t"]
    assert row.type.find(row.call("CREATE")) == row.physical_id
    changed = {
        **given,
        "flavor": large,
        "metadata": {"b": "2"},
        "name": "post",
        "networks": [{"network": net.physical_id}, {"network": net.physical_id}],
    }
    assert isinstance(row.update(**changed), Done)
    found = SERVERS.get(cloud, row.physical_id)
    assert (found["name"], found["metadata"], found["status"]) == ("post", {"b": "2"}, "ACTIVE")
    assert found["flavor"]["id"] == large
    assert len(PORTS.select(cloud, device_id=row.physical_id)) == 2
    assert isinstance(row.run("CHECK"), Done)


def test_server_releases_and_reclaims_its_port(
    made: Any, subnet: tuple[Row, Row], local: LocalCloud
) -> None:
    net, _ = subnet
    cloud = local.connection()
    port = made(Port(), network=net.physical_id)
    given = {
        "image": IMAGES.select(cloud)[0]["id"],
        "flavor": FLAVORS.select(cloud)[0]["id"],
        "networks": [{"port": port.physical_id}],
        "user_data_format": "RAW",
    }
    old = made(Server(), **given)
    assert isinstance(old.run("RELEASE"), Done)
    new = LiveRow(Server(), cloud, given, name=old.name, token=RandomIds().token()).create()
    assert PORTS.get(cloud, str(port.physical_id))["device_id"] == new.physical_id
    assert isinstance(new.run("RELEASE"), Done)
    assert isinstance(old.run("RECLAIM"), Done)
    assert isinstance(new.delete(), Done)
    assert PORTS.get(cloud, str(port.physical_id))["device_id"] == old.physical_id


def test_server_gets_identity_address(local: LocalCloud) -> None:
    given = {
        "user_data_format": "SOFTWARE_CONFIG",
        "software_config_transport": "POLL_SERVER_HEAT",
        "image": "i",
        "flavor": "f",
    }
    row = Row(Server(), local.connection(), given, data={"user_id": "u"})
    polling_metadata = told_to(row.call("CREATE"))["os-collect-config"]["heat"]
    assert polling_metadata["auth_url"] == local.credentials["auth_url"]


def test_names_are_found_and_unknown_ones_are_refused(local: LocalCloud) -> None:
    cloud = local.connection()
    lookups = Lookups(SystemClock())
    flavor = FLAVORS.select(cloud)[0]
    image = IMAGES.select(cloud)[0]
    wanted = [
        (Finder("compute", "flavor"), flavor["name"]),
        (Finder("compute", "flavor"), flavor["id"]),
        (Finder("image", "image"), image["name"]),
        (Finder("image", "image"), image["id"]),
    ]
    found = lookups.find_many(cloud, wanted)
    assert found == [flavor["id"], flavor["id"], image["id"], image["id"]]
    with pytest.raises(LookupFailedError, match="there is no network 'nowhere'"):
        lookups.find(cloud, Finder("network", "network"), "nowhere")
    checks = [("neutron.network", "public"), ("nova.keypair", "none"), ("glance.image", "none")]
    good, *bad = lookups.check_many(cloud, checks)
    assert good is None
    assert all(bad)


def test_cloud_reports_missing_services_and_extensions(local: LocalCloud) -> None:
    access = CloudAccess(local.sessions, Lookups(SystemClock()))
    dependencies = [
        ("network", "router"),
        ("network", "vpnaas"),
        ("reservation", ""),
        ("compute", ""),
    ]
    token = local.connection().session.get_token()
    asking = SimpleNamespace(credentials={"token": token})
    assert access.lacking(asking, dependencies) == [
        None,
        "Required extension vpnaas in network service is not available.",
        "Service endpoint not in service catalog.",
        None,
    ]


def test_quotas_show_use_and_limits(local: LocalCloud) -> None:
    cloud, lookups = local.connection(), Lookups(SystemClock())
    flavor = FLAVORS.get(cloud, FLAVORS.select(cloud)[0]["id"])
    use = {
        "compute/instances": 2,
        f"flavor/{flavor['name']}": 2,
        "flavor/absent": 1,
        "volume/gigabytes": 100_001,
        "network/port": 1,
        "network/router": 0,
    }
    found = {f"{each.service}/{each.name}": each for each in quotas_for(cloud, lookups, use)}
    counts = {key: each.requested for key, each in found.items()}
    assert counts == {
        "compute/instances": 2,
        "compute/cores": 2 * flavor["vcpus"],
        "compute/ram": 2 * flavor["ram"],
        "volume/gigabytes": 100_001,
        "network/port": 1,
    }
    assert found["volume/gigabytes"].allowed == 100_000
    before = found["network/port"].used
    network = next(each for each in NETWORKS.select(cloud) if each["name"] == "private")
    port = PORTS.create(cloud, {"network_id": network["id"]})
    [again] = quotas_for(cloud, lookups, {"network/port": 1})
    assert again.used == before + 1
    PORTS.delete(cloud, port["id"])


def test_pools_and_scopes_and_policies_live(made: Any, local: LocalCloud) -> None:
    scope = made(AddressScope(), name="scope")
    given = {"prefixes": ["10.200.0.0/16"], "default_prefixlen": 24}
    pool = made(SubnetPool(), address_scope=scope.physical_id, tags=["p"], **given)
    more = [*given["prefixes"], "10.201.0.0/16"]
    changed = {**pool.given, "prefixes": more, "tags": ["q"]}
    assert isinstance(pool.update(**changed), Done)
    assert pool.read()["show"]["tags"] == ["q"]
    net = made(Net())
    cut = made(Subnet(), network=net.physical_id, subnetpool=pool.physical_id)
    assert cut.attributes["cidr"] == "10.200.0.0/24"
    admin = local.connection("admin").session.get_project_id()
    policy = made(
        RBACPolicy(),
        object_type="network",
        object_id=net.physical_id,
        action="access_as_shared",
        target_tenant=admin,
    )
    assert policy.type.find(policy.call("CREATE")) == policy.physical_id


def test_a_provider_network_lives(made: Any, local: LocalCloud) -> None:
    admin = local.connection("admin")
    row = made(ProviderNet(), admin, network_type="vlan", physical_network="physnet1")
    assert row.read()["show"]["provider:network_type"] == "vlan"
