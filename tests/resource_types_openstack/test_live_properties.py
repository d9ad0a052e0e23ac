"""Drift of live objects: a new object has none, and each change by others is found.

Every type with objects in compute or network has an entry in the table, and is created on a local
cloud. Its properties are changed from outside, and an update reverts them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import pytest
from tests.clouds.driving import Row
from tests.clouds.local_cloud import LocalCloud, running_cloud
from tests.recovery.service import until
from tests.resource_types_openstack.test_found_again import HARNESSED
from tests.resource_types_openstack.test_local_cloud import LiveRow

from stoker.clouds.objects.collection import Collection, send
from stoker.clouds.objects.collections import (
    ADDRESS_SCOPES,
    FLAVORS,
    FLOATING_IPS,
    IMAGES,
    KEYPAIRS,
    NETWORKS,
    PORTS,
    ROUTERS,
    SECURITY_GROUP_RULES,
    SECURITY_GROUPS,
    SERVER_GROUPS,
    SERVERS,
    SUBNET_POOLS,
    SUBNETS,
)
from stoker.clouds.objects.lookups import Lookups
from stoker.engine.execution.observe.observing import Observation, observation_of
from stoker.kernel.clock import SystemClock
from stoker.kernel.ids import RandomIds
from stoker.kernel.values import replace
from stoker.resources.base.registry import Registry
from stoker.resources.neutron.sharing import RBAC_POLICIES
from stoker.resources.shared.networks.security_group_rules import OWN_RULES, meaning
from stoker.schema.properties import Finder
from stoker.schema.resource_type import (
    Done,
    ManagedType,
    Observes,
    Update,
    can,
    why_not_importable,
)

CLOUD = frozenset({"compute", "network"})
LEFT_OUT = {
    "AWS::AutoScaling::LaunchConfiguration": "it has no object in the cloud",
    "OS::Neutron::QoSPolicy": "the local cloud has no quality of service",
}
TYPES = Registry()


@dataclass(frozen=True)
class Ground:
    """The objects that those of the table depend on."""

    local: LocalCloud
    net: str
    subnet: str
    port: str
    public: str
    router: str
    group: str
    image: str
    flavors: tuple[str, str]

    @property
    def admin(self) -> Any:
        return self.local.connection("admin")


Somebody = Callable[[Ground, Row], None]  # changes the object of a row


@dataclass(frozen=True)
class Case:
    type_name: str
    given: Callable[[Ground], Mapping[str, Any]]
    # By property: a change of it, and of no other.
    changed: Mapping[str, Somebody] = field(default_factory=dict)
    gone: Somebody = lambda ground, row: None
    unreported: tuple[str, ...] = ()
    by: str = "demo"


def put(collection: Collection, **fields: Any) -> Somebody:
    def change(ground: Ground, row: Row) -> None:
        named = {name.replace("__", ":"): value for name, value in fields.items()}
        collection.update(ground.admin, str(row.physical_id), named)

    return change


def retagged(collection: Collection) -> Somebody:
    def change(ground: Ground, row: Row) -> None:
        path = collection.at(str(row.physical_id), "/tags")
        collection.ask(ground.admin, "PUT", path, json={"tags": ["theirs"]})

    return change


def removed(collection: Collection) -> Somebody:
    return lambda ground, row: _remove(collection, ground, row)


def _remove(collection: Collection, ground: Ground, row: Row) -> None:
    cloud = row.cloud if collection is KEYPAIRS else ground.admin
    assert collection.delete(cloud, str(row.physical_id))


def _other_port(ground: Ground, row: Row) -> str:
    return str(PORTS.create(row.cloud, {"network_id": ground.net, "name": "theirs"})["id"])


def _move(ground: Ground, row: Row) -> None:
    address = str(row.physical_id).partition(":")[0]
    FLOATING_IPS.update(row.cloud, address, {"port_id": _other_port(ground, row)})


def _new_address(ground: Ground, row: Row) -> str:
    body = {"floating_network_id": ground.public}
    return str(FLOATING_IPS.create(row.cloud, body)["id"])


def _disconnect(ground: Ground, row: Row) -> None:
    router, _, rest = str(row.physical_id).partition(":")
    subnet = rest.partition("=")[2]
    path = ROUTERS.at(router, "/remove_router_interface")
    send(row.cloud.service("network"), "PUT", path, json={"subnet_id": subnet})


_RANGES = (f"10.66.{number}.0/24" for number in range(256))


def _new_subnet(ground: Ground) -> str:
    body = {"network_id": ground.net, "cidr": next(_RANGES), "ip_version": 4}
    return str(SUBNETS.create(ground.local.connection(), body)["id"])


def _close(direction: str) -> Somebody:
    def change(ground: Ground, row: Row) -> None:
        rules = SECURITY_GROUPS.get(ground.admin, str(row.physical_id))["security_group_rules"]
        rule = next(rule for rule in rules if rule["direction"] == direction)
        SECURITY_GROUP_RULES.delete(ground.admin, rule["id"])

    return change


def _respecify(ground: Ground, row: Row) -> None:
    path = FLAVORS.at(str(row.physical_id), "/os-extra_specs")
    send(row.cloud.service("compute"), "POST", path, json={"extra_specs": {"theirs": "1"}})


def _let_in(ground: Ground, row: Row) -> None:
    project = ground.local.connection().session.get_project_id()
    path = FLAVORS.at(str(row.physical_id), "/action")
    send(row.cloud.service("compute"), "POST", path, json={"addTenantAccess": {"tenant": project}})


def _act(row: Row, body: Mapping[str, Any]) -> None:
    send(
        row.cloud.service("compute"), "POST", SERVERS.at(str(row.physical_id), "/action"), json=body
    )


def _relabel(ground: Ground, row: Row) -> None:
    path = SERVERS.at(str(row.physical_id), "/metadata")
    send(row.cloud.service("compute"), "POST", path, json={"metadata": {"theirs": "1"}})


def _retag_server(ground: Ground, row: Row) -> None:
    path = SERVERS.at(str(row.physical_id), "/tags/theirs")
    send(row.cloud.service("compute"), "PUT", path, microversion="2.26")


def _resize(ground: Ground, row: Row) -> None:
    _act(row, {"resize": {"flavorRef": ground.flavors[1]}})
    _until(row, "VERIFY_RESIZE")
    _act(row, {"confirmResize": None})
    _until(row, "ACTIVE")


def _until(row: Row, status: str) -> None:
    until(
        lambda: SERVERS.get(row.cloud, str(row.physical_id))["status"] == status,
        f"the server is {status}",
    )


def _plug(ground: Ground, row: Row) -> None:
    body = {"interfaceAttachment": {"port_id": _other_port(ground, row)}}
    path = SERVERS.at(str(row.physical_id), "/os-interface")
    send(row.cloud.service("compute"), "POST", path, json=body)


def _unplug(ground: Ground, row: Row) -> None:
    [port] = PORTS.select(row.cloud, device_id=row.physical_id)
    path = SERVERS.at(str(row.physical_id), f"/os-interface/{port['id']}")
    send(row.cloud.service("compute"), "DELETE", path)
    until(lambda: not PORTS.select(row.cloud, device_id=row.physical_id), "the port is gone")


def _unpair(ground: Ground, row: Row) -> None:
    [port] = PORTS.select(row.cloud, device_id=row.physical_id)
    PORTS.update(row.cloud, port["id"], {"allowed_address_pairs": []})


SERVER = {"user_data_format": "RAW", "metadata": {"n": 1, "empty": None}}


def kind_of(case: Case) -> ManagedType:
    kind = TYPES.find(case.type_name)
    assert isinstance(kind, ManagedType)
    return kind


CASES = (
    Case(
        "OS::Neutron::AddressScope",
        lambda ground: {},
        {"name": put(ADDRESS_SCOPES, name="x"), "shared": put(ADDRESS_SCOPES, shared=True)},
        removed(ADDRESS_SCOPES),
        by="admin",
    ),
    Case(
        "OS::Neutron::Net",
        lambda ground: {
            "name": "mine",
            "tags": ["b", "a"],
            "port_security_enabled": True,
            "dns_domain": "example.",
            "value_specs": {"mtu": 1400},
        },
        {
            "admin_state_up": put(NETWORKS, admin_state_up=False),
            "dns_domain": put(NETWORKS, dns_domain="theirs."),
            "name": put(NETWORKS, name="x"),
            "port_security_enabled": put(NETWORKS, port_security_enabled=False),
            "shared": put(NETWORKS, shared=True),
            "tags": retagged(NETWORKS),
            "value_specs": put(NETWORKS, mtu=1300),
        },
        removed(NETWORKS),
        by="admin",
    ),
    Case(
        "OS::Neutron::ProviderNet",
        lambda ground: {
            "network_type": "vlan",
            "physical_network": "physnet1",
            "segmentation_id": "77",
            "port_security_enabled": True,
        },
        {
            "admin_state_up": put(NETWORKS, admin_state_up=False),
            "name": put(NETWORKS, name="x"),
            "port_security_enabled": put(NETWORKS, port_security_enabled=False),
            "router_external": put(NETWORKS, router__external=True),
            "shared": put(NETWORKS, shared=False),
        },
        removed(NETWORKS),
        by="admin",
    ),
    Case(
        "OS::Neutron::Subnet",
        lambda ground: {
            "network": ground.net,
            "cidr": "10.61.0.0/24",
            "gateway_ip": "10.61.0.1",
            "allocation_pools": [
                {"start": "10.61.0.50", "end": "10.61.0.60"},
                {"start": "10.61.0.10", "end": "10.61.0.20"},
            ],
            "dns_nameservers": ["192.0.2.1"],
            "host_routes": [{"destination": "10.99.0.0/24", "nexthop": "10.61.0.9"}],
            "tags": ["t"],
        },
        {
            "allocation_pools": put(
                SUBNETS, allocation_pools=[{"start": "10.61.0.10", "end": "10.61.0.99"}]
            ),
            "dns_nameservers": put(SUBNETS, dns_nameservers=[]),
            "enable_dhcp": put(SUBNETS, enable_dhcp=False),
            "gateway_ip": put(SUBNETS, gateway_ip=None),
            "host_routes": put(SUBNETS, host_routes=[]),
            "name": put(SUBNETS, name="x"),
            "tags": retagged(SUBNETS),
        },
        removed(SUBNETS),
    ),
    Case(
        "OS::Neutron::SubnetPool",
        lambda ground: {
            "prefixes": ["10.80.0.0/17", "10.80.128.0/17"],
            "min_prefixlen": 20,
            "default_prefixlen": 24,
            "max_prefixlen": 28,
            "default_quota": 9,
            "tags": ["t"],
        },
        {
            "default_prefixlen": put(SUBNET_POOLS, default_prefixlen=25),
            "default_quota": put(SUBNET_POOLS, default_quota=10),
            "max_prefixlen": put(SUBNET_POOLS, max_prefixlen=29),
            "min_prefixlen": put(SUBNET_POOLS, min_prefixlen=21),
            "name": put(SUBNET_POOLS, name="x"),
            "tags": retagged(SUBNET_POOLS),
        },
        removed(SUBNET_POOLS),
    ),
    Case(
        "OS::Neutron::Port",
        lambda ground: {
            "network": ground.net,
            "fixed_ips": [{"subnet": ground.subnet, "ip_address": "10.60.0.77"}],
            "allowed_address_pairs": [{"ip_address": "10.60.0.200"}],
            "device_id": "mine",
            "device_owner": "mine:own",
            "dns_name": "www",
            "port_security_enabled": True,
            "propagate_uplink_status": True,
            "security_groups": ["default"],
            "tags": ["t"],
            "value_specs": {"description": "mine"},
            "replacement_policy": "REPLACE_ALWAYS",
        },
        {
            "admin_state_up": put(PORTS, admin_state_up=False),
            "allowed_address_pairs": put(PORTS, allowed_address_pairs=[]),
            "binding:vnic_type": put(PORTS, binding__vnic_type="direct"),
            "device_id": put(PORTS, device_id="theirs"),
            "device_owner": put(PORTS, device_owner="theirs:own"),
            "dns_name": put(PORTS, dns_name="theirs"),
            "name": put(PORTS, name="x"),
            "propagate_uplink_status": put(PORTS, propagate_uplink_status=False),
            "security_groups": put(PORTS, security_groups=[]),
            "tags": retagged(PORTS),
            "value_specs": put(PORTS, description="theirs"),
        },
        removed(PORTS),
        unreported=("replacement_policy",),
    ),
    Case(
        "OS::Neutron::Router",
        lambda ground: {
            "external_gateway_info": {"network": ground.public},
            "tags": ["t"],
            "value_specs": {"description": "mine"},
        },
        {
            "admin_state_up": put(ROUTERS, admin_state_up=False),
            "external_gateway_info": put(ROUTERS, external_gateway_info={}),
            "name": put(ROUTERS, name="x"),
            "tags": retagged(ROUTERS),
            "value_specs": put(ROUTERS, description="theirs"),
        },
        removed(ROUTERS),
    ),
    Case(
        "OS::Neutron::RouterGateway",
        lambda ground: {
            "router_id": ROUTERS.create(ground.local.connection(), {"name": "inner"})["id"],
            "network": ground.public,
        },
        {},
        lambda ground, row: (
            ROUTERS.update(
                row.cloud, str(row.physical_id).partition(":")[0], {"external_gateway_info": {}}
            )
            and None
        ),
    ),
    Case(
        "OS::Neutron::RouterInterface",
        lambda ground: {"router": ground.router, "subnet": _new_subnet(ground)},
        gone=_disconnect,
    ),
    Case(
        "OS::Neutron::ExtraRouteSet",
        lambda ground: {
            "router": ground.router,
            "routes": [{"destination": "10.98.0.0/24", "nexthop": "10.60.0.9"}],
        },
        {"routes": put(ROUTERS, routes=[])},
    ),
    Case(
        "OS::Neutron::FloatingIP",
        lambda ground: {"floating_network": ground.public, "port_id": ground.port},
        {"port_id": put(FLOATING_IPS, port_id=None)},
        removed(FLOATING_IPS),
    ),
    Case(
        "OS::Neutron::FloatingIPAssociation",
        lambda ground: {
            "floatingip_id": FLOATING_IPS.create(
                ground.local.connection(), {"floating_network_id": ground.public}
            )["id"],
            "port_id": ground.port,
        },
        {"port_id": _move},
        lambda ground, row: (
            FLOATING_IPS.update(
                row.cloud, str(row.physical_id).partition(":")[0], {"port_id": None}
            )
            and None
        ),
    ),
    Case(
        "OS::Neutron::RBACPolicy",
        lambda ground: {
            "object_type": "network",
            "object_id": "ground",
            "action": "access_as_shared",
            "target_tenant": "mine",
        },
        {"target_tenant": put(TYPES.find("OS::Neutron::RBACPolicy").collection, target_tenant="x")},
        removed(TYPES.find("OS::Neutron::RBACPolicy").collection),
        by="admin",
    ),
    Case(
        "OS::Neutron::SecurityGroup",
        lambda ground: {
            "name": "doors",
            "description": "mine",
            "rules": [
                {"protocol": "tcp", "port_range_min": 22, "port_range_max": 22},
                {"protocol": "6", "remote_ip_prefix": "10.1.2.3/8"},
                {"remote_mode": "remote_group_id"},
            ],
            "stateful": True,
        },
        {
            "description": put(SECURITY_GROUPS, description="theirs"),
            "name": put(SECURITY_GROUPS, name="x"),
            "rules": _close("ingress"),
            "rules ": _close("egress"),
            "stateful": put(SECURITY_GROUPS, stateful=False),
        },
        removed(SECURITY_GROUPS),
    ),
    Case(
        "OS::Neutron::SecurityGroupRule",
        lambda ground: {
            "security_group": ground.group,
            "protocol": "17",
            "remote_ip_prefix": "10.1.2.3/16",
            "description": "mine",
        },
        gone=removed(SECURITY_GROUP_RULES),
    ),
    Case(
        "OS::Nova::Flavor",
        lambda ground: {
            "ram": 64,
            "vcpus": 1,
            "is_public": False,
            "tenants": [ground.admin.session.get_project_id()],
            "extra_specs": {"a": 1},
        },
        {"extra_specs": _respecify, "tenants": _let_in},
        removed(FLAVORS),
        by="admin",
    ),
    Case("OS::Nova::KeyPair", lambda ground: {"name": "made"}, gone=removed(KEYPAIRS)),
    Case(
        "OS::Nova::ServerGroup",
        lambda ground: {"policies": ["affinity"]},
        gone=removed(SERVER_GROUPS),
    ),
    Case(
        "OS::Nova::Server",
        lambda ground: {
            **SERVER,
            "image": ground.image,
            "flavor": ground.flavors[0],
            "networks": [
                {
                    "network": ground.net,
                    "port_extra_properties": {
                        "allowed_address_pairs": [{"ip_address": "10.60.0.201"}],
                        "value_specs": {"dns_name": "www"},
                    },
                }
            ],
            "security_groups": ["default"],
            "tags": ["t"],
            "availability_zone": "nova",
            "name": "mine",
            "user_data": "#!/bin/sh\ntrue",
        },
        {
            "flavor": _resize,
            "metadata": _relabel,
            "name": put(SERVERS, name="x"),
            "networks": _plug,
            "networks ": _unplug,
            "networks  ": _unpair,
            "tags": _retag_server,
        },
        removed(SERVERS),
        unreported=("user_data", "user_data_format"),
    ),
    Case(
        "AWS::EC2::Instance",
        lambda ground: {
            "ImageId": ground.image,
            "InstanceType": ground.flavors[0],
            "SubnetId": ground.subnet,
            "Tags": [{"Key": "k", "Value": "v"}],
        },
        {"SubnetId": _unplug, "Tags": _relabel},
        removed(SERVERS),
    ),
)


IMPORTABLE = [case for case in CASES if why_not_importable(kind_of(case)) is None]


@pytest.fixture(scope="module")
def ground(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Ground]:
    with running_cloud(tmp_path_factory.mktemp("cloud")) as local:
        cloud = local.connection()
        net = NETWORKS.create(cloud, {"name": "ground"})["id"]
        under = {"network_id": net, "cidr": "10.60.0.0/24", "ip_version": 4}
        subnet = SUBNETS.create(cloud, under)["id"]
        public = Lookups(SystemClock()).find(cloud, Finder("network", "network"), "public")
        outside = {"external_gateway_info": {"network_id": public}}
        router = ROUTERS.create(cloud, {"name": "ground", **outside})["id"]
        path = ROUTERS.at(router, "/add_router_interface")
        send(cloud.service("network"), "PUT", path, json={"subnet_id": subnet})
        yield Ground(
            local,
            net,
            subnet,
            PORTS.create(cloud, {"network_id": net})["id"],
            public,
            router,
            SECURITY_GROUPS.create(cloud, {"name": "ground"})["id"],
            IMAGES.select(cloud)[0]["id"],
            tuple(flavor["id"] for flavor in FLAVORS.select(cloud)[:2]),  # type: ignore[arg-type]
        )


def made(ground: Ground, case: Case) -> Row:
    kind, token = kind_of(case), RandomIds().token()
    cloud = ground.local.connection(case.by)
    return LiveRow(kind, cloud, case.given(ground), token=token, name=token[:4]).create()


def looked(row: Row) -> Observation:
    assert can(row.type, Observes)
    return observation_of(row.type, row.call("READ"))


def test_table_has_every_compute_and_network_type() -> None:
    found = {name for name in TYPES.names() if getattr(TYPES.find(name), "service", None) in CLOUD}
    assert found - LEFT_OUT.keys() - HARNESSED == {case.type_name for case in CASES}


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.type_name)
def test_changes_by_others_are_seen_and_set_back(ground: Ground, case: Case) -> None:
    row = made(ground, case)
    new = looked(row)
    assert (new.gone, new.found.differences) == (False, ())
    assert new.found.unreported == case.unreported
    for name, change in case.changed.items():
        change(ground, row)
        differences = looked(row).found.differences
        assert [each.name for each in differences] == [name.strip()]
        live = {**row.call("READ").properties, **{each.name: each.live for each in differences}}
        update = Update(live, frozenset({name.strip()}))
        assert isinstance(row.run("UPDATE", update=update), Done), name
        assert looked(row).found.differences == (), name
    case.gone(ground, row)
    assert looked(row).gone is (case.gone is not Case.gone)
    assert isinstance(row.delete(), Done)


@pytest.mark.parametrize("case", IMPORTABLE, ids=lambda case: case.type_name)
def test_object_is_imported_by_its_id(ground: Ground, case: Case) -> None:
    theirs = made(ground, case)
    ours = replace(theirs, token=RandomIds().token(), name="ours", data={}, attributes={})
    found = looked(ours)
    assert not found.gone
    assert {each.name for each in found.found.differences} <= {"name"} - theirs.given.keys()
    assert isinstance(ours.delete(), Done)
    left = looked(theirs)
    assert left.gone or left.found.differences


def test_key_pair_replaced_under_its_name_differs(ground: Ground) -> None:
    case = next(case for case in CASES if case.type_name == "OS::Nova::KeyPair")
    row = made(ground, replace(case, given=lambda ground: {"name": "swapped"}))
    KEYPAIRS.delete(row.cloud, "swapped")
    KEYPAIRS.create(row.cloud, {"name": "swapped"})
    assert [each.name for each in looked(row).found.differences] == ["public_key"]
    assert isinstance(row.delete(), Done)


def test_rules_of_others_are_no_drift(ground: Ground) -> None:
    case = next(each for each in CASES if each.type_name == "OS::Neutron::SecurityGroup")
    row = made(ground, case)
    body = {"security_group_id": row.physical_id, "direction": "ingress", "protocol": "icmp"}
    SECURITY_GROUP_RULES.create(ground.admin, body)
    assert looked(row).found.differences == ()
    row.data = {**row.data, OWN_RULES: [list(meaning(body))]}  # an update that failed has added it
    assert [each.name for each in looked(row).found.differences] == ["rules"]


def test_sharing_by_policy_is_no_drift(ground: Ground) -> None:
    case = next(each for each in CASES if each.type_name == "OS::Neutron::Net")
    row = made(ground, case)
    network = str(row.physical_id)
    policy = {
        "object_type": "network",
        "object_id": network,
        "action": "access_as_shared",
        "target_tenant": row.cloud.project_id,
    }
    RBAC_POLICIES.create(row.cloud, policy)
    assert NETWORKS.get(row.cloud, network)["shared"] is True
    assert looked(row).found.differences == ()
