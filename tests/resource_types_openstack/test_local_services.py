"""Every type of a service that the local cloud has, through its API and the real SDK."""

from __future__ import annotations

import time
from base64 import b64decode
from collections.abc import Iterator
from typing import Any

import pytest
from tests.clouds.certificates import certificate
from tests.clouds.driving import Row, checked
from tests.clouds.local_cloud import running_cloud
from tests.resource_types_openstack.harness import TYPES, Ground, assert_same
from tests.resource_types_openstack.services import (
    aodh,
    barbican,
    designate,
    ec2,
    glance,
    keystone,
    manila,
    mistral,
    nova,
    object_store,
    octavia,
    quotas,
    zaqar,
)
from tests.resource_types_openstack.trials import Trials

from stoker.clouds.objects.collection import send
from stoker.clouds.objects.collections import NETWORKS, ROUTERS, SUBNETS
from stoker.kernel.values import replace
from stoker.resources.shared.networks.ec2 import connect, disconnect, routers_at
from stoker.schema.resource_type import Done, Failed, Update

_SERVICES = (
    aodh, barbican, designate, ec2, glance, keystone, manila, mistral, nova, object_store, octavia,
    quotas, zaqar,
)  # fmt: skip
_ELSEWHERE = {"OS::Aodh::Alarm"}  # types of Ceilometer, a service that no cloud has any more
# Types whose objects only administrators can change in each way.
_BY_ADMINISTRATORS = {"OS::Glance::WebImage"}
CASES = [
    replace(case, by="admin") if case.type_name in _BY_ADMINISTRATORS else case
    for service in _SERVICES
    for case in service.CASES
    if case.type_name not in _ELSEWHERE
]


@pytest.fixture(scope="module")
def ground(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Ground]:
    with running_cloud(tmp_path_factory.mktemp("cloud")) as local:
        connections = {name: local.connection(name) for name in ("demo", "admin")}
        hosts = send(connections["admin"].compute, "GET", "/os-hypervisors")["hypervisors"]
        known = {
            "HOST": hosts[0]["hypervisor_hostname"],
            "PUBLIC": NETWORKS.named(connections["demo"], "public")[0]["id"],
            "PROJECT": connections["demo"].project_id,
            "http://example.org/image": _published(connections["admin"]),
            **_balanced(connections["demo"]),
            **mistral.two_workflows(connections),
        }
        yield Ground(connections, known, rest=lambda seconds: time.sleep(min(seconds, 0.02)))


def _published(cloud: Any) -> str:
    """An address from which the cloud takes images: an object of its own that everybody reads."""
    store = cloud.service("object-store")
    store.request("/images", "PUT", headers={"X-Container-Read": ".r:*"}).raise_for_status()
    store.request("/images/image", "PUT", data=b"an image").raise_for_status()
    return f"{store.get_endpoint()}/images/image"


def _balanced(cloud: Any) -> dict[str, str]:
    """Return the objects of other services that load balancers need, by their placeholders."""
    found = {"project": cloud.project_id}
    for word in ("subnet", "other"):
        network = NETWORKS.create(cloud, {"name": word})
        fields = {"network_id": network["id"], "cidr": "10.0.0.0/24", "ip_version": 4}
        found[word] = SUBNETS.create(cloud, fields)["id"]
    for word in ("http://secret", "http://other"):
        found[word] = certificate(cloud, "localhost")
    return found


class TestTypes(Trials):
    """The types of the services of the local cloud."""

    cases = CASES
    lost = CASES


def test_subnet_stays_at_router_outside_its_vpc(
    ground: Ground,
) -> None:
    dependencies = {"@vpc": ec2.VPC, "@table": ec2.TABLE, "@subnet": ec2.SUBNET}
    case = replace(ec2.ASSOCIATION, dependencies=dependencies)
    with ground.prepared(case):
        cloud = ground.connections["demo"]
        subnet, foreign = ground.ids["@subnet"], ROUTERS.create(cloud, {"name": "theirs"})["id"]
        for router in routers_at(cloud, subnet):
            disconnect(cloud, router, subnet)
        connect(cloud, foreign, subnet)
        try:
            outcome = ground.row(case, case.given).run("CREATE")
            assert isinstance(outcome, Failed)
            assert foreign in outcome.reason
            assert routers_at(cloud, subnet) == [foreign]
        finally:
            disconnect(cloud, foreign, subnet)
            ROUTERS.delete(cloud, foreign)


def _roles(ground: Ground, user: str) -> set[str]:
    answer = send(
        ground.connections["admin"].identity, "GET", "/role_assignments", params={"user.id": user}
    )
    return {item["role"]["id"] for item in answer["role_assignments"]}


def test_role_assignment_removes_only_its_own_roles(ground: Ground) -> None:
    case = next(each for each in keystone.CASES if each.type_name.endswith("UserRoleAssignment"))
    with ground.prepared(
        replace(case, dependencies={**case.dependencies, "@theirs": keystone.ROLE})
    ):
        row = ground.row(case, case.given)
        row.create()
        role, theirs, user, project = (
            ground.ids[word] for word in ("@role", "@theirs", "@user", "@project")
        )
        path = f"/projects/{project}/users/{user}/roles/{theirs}"
        send(row.cloud.service("identity"), "PUT", path)
        assert _roles(ground, user) == {role, theirs}
        # The name in the properties means another role by now.
        row.given = {**row.given, "roles": [{"role": theirs, "project": project}]}
        assert isinstance(row.delete(), Done)
        assert _roles(ground, user) == {theirs}


def test_role_of_two_resources_outlives_the_first(ground: Ground) -> None:
    case = next(each for each in keystone.CASES if each.type_name.endswith("UserRoleAssignment"))
    with ground.prepared(case):
        user = ground.ids["@user"]
        row = ground.row(case, case.given)
        row.create()
        given = {**keystone.USER.given, "roles": ground.place(case.given["roles"])}
        owner = ground.row(keystone.USER, given)
        owner.physical_id = user
        shared = frozenset(keystone.USER.type.parts(owner.call("READ")))
        assert shared == frozenset(row.type.parts(row.call("READ")))
        assert isinstance(row.run("DELETE", shared=shared), Done)
        assert _roles(ground, user) == {ground.ids["@role"]}
        assert isinstance(row.run("DELETE"), Done)
        assert _roles(ground, user) == set()


def test_shared_network_stays_shared_by_policy(ground: Ground) -> None:
    admin = ground.connections["admin"]
    network = Row(TYPES.find("OS::Neutron::Net"), admin, {"shared": True}).create()
    try:
        grant = {"object_type": "network", "object_id": network.physical_id, "target_tenant": "*"}
        given = {**grant, "action": "access_as_shared"}
        policy = Row(TYPES.find("OS::Neutron::RBACPolicy"), admin, given)
        shared = frozenset(network.type.parts(network.call("READ")))
        assert shared == frozenset(policy.type.parts(policy.call("READ")))
        before = checked(network.type, {"shared": True})
        network.given = {"shared": False}
        update = Update(before, frozenset({"shared"}))
        assert isinstance(network.run("UPDATE", update=update, shared=shared), Done)
        assert NETWORKS.get(admin, network.physical_id)["shared"] is True
        assert isinstance(network.run("UPDATE", update=update), Done)
        assert NETWORKS.get(admin, network.physical_id)["shared"] is False
    finally:
        network.delete()


@pytest.mark.parametrize("type_name", ["OS::Designate::Zone", "OS::Designate::RecordSet"])
def test_dns_name_with_capitals_shows_no_drift(ground: Ground, type_name: str) -> None:
    case = next(each for each in designate.CASES if each.type_name == type_name)
    with ground.prepared(case):
        given = ground.place(case.given)
        named = {"name": given["name"].title()} if "name" in given else {}
        row = ground.row(case, {**given, **named}, "With-Capitals")
        row.create()
        try:
            assert_same(row)
            assert str(row.read()["show"]["name"]).islower()
            if not named:  # it is found by the name that carries the token
                assert row.find("CREATE") == row.physical_id
        finally:
            assert isinstance(row.delete(), Done)


def test_order_is_complete_when_its_keys_exist(ground: Ground) -> None:
    """The response to the POST has no status, and a long key takes a second."""
    case = next(each for each in barbican.CASES if each.given.get("type") == "asymmetric")
    row = ground.row(case, {**case.given, "bit_length": 4096}).create()
    try:
        found = row.read()
        assert found["status"] == "ACTIVE"
        assert b"PRIVATE KEY" in b64decode(found["private_key"])
    finally:
        assert isinstance(row.delete(), Done)
