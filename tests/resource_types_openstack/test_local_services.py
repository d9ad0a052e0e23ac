"""Every type of a service that the local cloud has, through its API and the real SDK."""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Any

import pytest
from tests.clouds.certificates import certificate
from tests.clouds.local_cloud import running_cloud
from tests.resource_types_openstack.harness import Ground
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

from stoker.clouds.collection import send
from stoker.clouds.collections import NETWORKS, ROUTERS, SUBNETS
from stoker.kernel.values import replace
from stoker.resources.neutron.ec2 import connect, disconnect, routers_at
from stoker.schema.resource_type import Failed

_SERVICES = (
    aodh, barbican, designate, ec2, glance, keystone, manila, mistral, nova, object_store, octavia,
    quotas, zaqar,
)  # fmt: skip
_ELSEWHERE = {"OS::Aodh::Alarm"}
"""Types that need a service which is in no cloud any more: Ceilometer."""
_BY_ADMINISTRATORS = {"OS::Glance::WebImage"}
"""Types whose objects administrators alone can change in each way."""
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
            "PROJECT": connections["demo"].current_project_id,
            "http://example.org/image": _published(connections["admin"]),
            **_balanced(connections["demo"]),
            **mistral.two_workflows(connections),
        }
        yield Ground(connections, known, rest=lambda seconds: time.sleep(min(seconds, 0.2)))


def _published(cloud: Any) -> str:
    """An address from which the cloud takes images: an object of its own that everybody reads."""
    store = cloud.object_store
    store.put("/images", headers={"X-Container-Read": ".r:*"}).raise_for_status()
    store.put("/images/image", data=b"an image").raise_for_status()
    return f"{store.get_endpoint()}/images/image"


def _balanced(cloud: Any) -> dict[str, str]:
    """What load balancers need of other services, by the words of their cases."""
    found = {"project": cloud.current_project_id}
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


def test_a_subnet_is_not_taken_from_a_router_outside_of_its_virtual_private_cloud(
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
