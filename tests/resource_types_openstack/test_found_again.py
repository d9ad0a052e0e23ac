"""Every type of an OpenStack service: an object whose answer got lost is found, and once only.

The answer to the call that makes the object is thrown away, as by a kill between the two.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from tests.clouds.driving import Row
from tests.clouds.local_cloud import LocalCloud, running_cloud
from tests.resource_types_openstack.harness import PatientRow, spares_others
from tests.resource_types_openstack.services.cinder import FOUND_AGAIN as VOLUMES
from tests.resource_types_openstack.test_fake_services import CASES as FAKED
from tests.resource_types_openstack.test_local_services import CASES as LOCAL

from stoker.clouds.objects.collections import FLAVORS, IMAGES, NETWORKS
from stoker.kernel.ids import RandomIds
from stoker.kernel.values import replace
from stoker.resources.base.builtin_types import built_in
from stoker.resources.base.registry import Registry
from stoker.resources.base.renamed_types import OLDER_NAMES
from stoker.schema.resource_type import Adopts, Done, ResourceType, Sweeps, Wait

DOCUMENT = Path(__file__).parents[2] / "docs/reference/lost-creates.md"
TYPES = Registry()
NAMED = {"name": "theirs"}
DESCRIBED = {**NAMED, "description": "by the user"}
FURTHER = {**NAMED, "value_specs": {"description": "by the user"}}
CIDR = "10.7.0.0/24"

CASES: dict[str, list[dict[str, Any]]] = {
    "AWS::EC2::Instance": [{"ImageId": "IMAGE", "InstanceType": "FLAVOR", "SubnetId": "OTHER"}],
    "OS::Neutron::AddressScope": [{}, NAMED],
    "OS::Neutron::ExtraRouteSet": [
        {"router": "ROUTER", "routes": [{"destination": "10.99.0.0/24", "nexthop": "10.8.0.9"}]}
    ],
    "OS::Neutron::FloatingIP": [
        {"floating_network": "PUBLIC"},
        {"floating_network": "PUBLIC", "value_specs": {"description": "by the user"}},
    ],
    "OS::Neutron::FloatingIPAssociation": [{"floatingip_id": "ADDRESS", "port_id": "PORT"}],
    "OS::Neutron::Net": [{}, NAMED, FURTHER],
    "OS::Neutron::Port": [{"network": "NET", **given} for given in ({}, NAMED, FURTHER)],
    "OS::Neutron::ProviderNet": [
        {"network_type": "vlan", "physical_network": "physnet1", **given} for given in ({}, NAMED)
    ],
    "OS::Neutron::RBACPolicy": [
        {
            "object_type": "network",
            "object_id": "NET",
            "action": "access_as_shared",
            "target_tenant": "PROJECT",
        }
    ],
    "OS::Neutron::Router": [{}, NAMED, FURTHER],
    "OS::Neutron::RouterGateway": [{"router_id": "INNER", "network": "PUBLIC"}],
    "OS::Neutron::RouterInterface": [{"router": "ROUTER", "subnet": "OTHER"}],
    "OS::Neutron::SecurityGroup": [{}, NAMED, DESCRIBED],
    "OS::Neutron::SecurityGroupRule": [{"security_group": "GROUP", "protocol": "icmp"}],
    "OS::Neutron::Subnet": [
        {"network": "BARE", "cidr": CIDR, **given} for given in ({}, NAMED, FURTHER)
    ],
    "OS::Neutron::SubnetPool": [{"prefixes": ["10.6.0.0/16"], **given} for given in ({}, NAMED)],
    "OS::Nova::Flavor": [
        {"ram": 64, "vcpus": 1, **given} for given in ({}, NAMED, {**NAMED, "flavorid": "7"})
    ],
    "OS::Nova::KeyPair": [NAMED, {**NAMED, "save_private_key": True}],
    "OS::Nova::Server": [
        {"flavor": "FLAVOR", "image": "IMAGE", "networks": [{"network": "NET"}], **given}
        for given in ({}, NAMED)
    ],
    "OS::Nova::ServerGroup": [{}, NAMED],
}
# The first makes nothing. The local cloud has neither an orchestration service nor qualities of
# service: stacks are in tests/groups/test_stacks.py, the policy is only declared.
ELSEWHERE = {
    "AWS::AutoScaling::LaunchConfiguration",
    "OS::Heat::Stack",
    "OS::Neutron::QoSPolicy",
}
# Types whose objects have an id or a name of ours: stack users, and signal addresses of servers.
OF_STACKS = ("OS::Heat::", "AWS::CloudFormation::", "AWS::AutoScaling::", "AWS::IAM::")
HARNESSED = {case.type_name for case in (*FAKED, *LOCAL, *VOLUMES)} - OLDER_NAMES.keys()


@dataclass
class Scenery:
    """The objects that others need, by the words of the table."""

    cloud: Any
    ids: dict[str, str]

    def place(self, value: Any) -> Any:
        if isinstance(value, dict):
            return {key: self.place(entry) for key, entry in value.items()}
        if isinstance(value, list):
            return [self.place(entry) for entry in value]
        return self.ids.get(value, value) if isinstance(value, str) else value


@pytest.fixture(scope="module")
def local(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LocalCloud]:
    with running_cloud(tmp_path_factory.mktemp("cloud")) as cloud:
        yield cloud


@pytest.fixture(scope="module")
def scenery(local: LocalCloud) -> Scenery:
    cloud = local.connection("admin")

    def made(type_name: str, **given: Any) -> str:
        row = Row(_type(type_name), cloud, given, token=RandomIds().token())
        return str(row.create().physical_id)

    [public] = NETWORKS.select(cloud, **{"router:external": True})
    ids = {"PUBLIC": str(public["id"]), "PROJECT": str(cloud.project_id)}
    ids["NET"] = made("OS::Neutron::Net", name="net")
    ids["BARE"] = made("OS::Neutron::Net", name="bare")
    gateway = {"network": ids["PUBLIC"]}
    ids["INNER"] = made("OS::Neutron::Router")
    ids["ROUTER"] = made("OS::Neutron::Router", external_gateway_info=gateway)
    under = made("OS::Neutron::Subnet", network=ids["NET"], cidr="10.8.0.0/24")
    other = made("OS::Neutron::Net", name="other")
    ids["OTHER"] = made("OS::Neutron::Subnet", network=other, cidr="10.9.0.0/24")
    made("OS::Neutron::RouterInterface", router=ids["ROUTER"], subnet=under)
    ids["PORT"] = made("OS::Neutron::Port", network=ids["NET"])
    ids["ADDRESS"] = made("OS::Neutron::FloatingIP", floating_network=ids["PUBLIC"])
    ids["GROUP"] = made("OS::Neutron::SecurityGroup", name="doors")
    ids["FLAVOR"] = str(FLAVORS.select(cloud)[0]["id"])
    ids["IMAGE"] = str(IMAGES.select(cloud)[0]["id"])
    return Scenery(cloud, ids)


def _type(name: str) -> ResourceType:
    found = TYPES.find(name)
    assert found is not None
    return found


def _types_of_services() -> set[str]:
    used = {name for name in built_in() if _type(name).service is not None}
    return {name for name in used if not name.startswith(OF_STACKS)} - ELSEWHERE


def test_table_and_documentation_have_every_service_type() -> None:
    assert {*CASES, *HARNESSED} - ELSEWHERE == _types_of_services()
    text = DOCUMENT.read_text()
    assert [name for name in {*CASES, *HARNESSED, *ELSEWHERE} if f"`{name}`" not in text] == []


@pytest.mark.parametrize(
    ("name", "given"), [(name, given) for name, cases in CASES.items() for given in cases]
)
def test_object_with_lost_response_is_found_again(
    scenery: Scenery, name: str, given: dict[str, Any]
) -> None:
    kind, given = _type(name), scenery.place(given)
    assert isinstance(kind, Adopts)
    namesake = None
    if "name" in given and name not in ("OS::Nova::KeyPair", "OS::Nova::Flavor"):
        namesake = Row(kind, scenery.cloud, given, token=RandomIds().token(), name="first")
        if "cidr" in given:
            namesake.given = {**given, "cidr": "10.17.0.0/24"}
        namesake.create()
    row = Row(kind, scenery.cloud, given, token=RandomIds().token(), name="second")
    try:
        _make_and_forget(row)
        found = kind.find(row.call("CREATE"))
        assert found is not None
        assert found != (namesake.physical_id if namesake else None)
        assert kind.find(row.call("DELETE")) == found
        row.physical_id = found
        outcome = row.run("CREATE", limit=300)
        assert isinstance(outcome, Done)
        assert row.physical_id == found
        if isinstance(kind, Sweeps):
            assert list(kind.sweep(row.call("CREATE"))) == []
        if "value_specs" in given or "description" in given:
            assert row.read()["show"]["description"] == "by the user"
    finally:
        for each in (row, namesake):
            if each is not None:
                assert isinstance(each.run("DELETE", limit=300), Done)


@pytest.mark.parametrize(
    ("name", "given"), [(name, given) for name, cases in CASES.items() for given in cases]
)
def test_foreign_object_is_neither_adopted_nor_removed(
    scenery: Scenery, name: str, given: dict[str, Any]
) -> None:
    kind, given = _type(name), scenery.place(given)
    theirs, ours = (
        PatientRow(kind, scenery.cloud, given, token=RandomIds().token(), name=each)
        for each in ("theirs", "ours")
    )
    for row in (theirs, ours):
        row.clock, row.rest = time.time, lambda seconds: time.sleep(min(seconds, 0.02))
    spares_others(theirs, ours)


def _make_and_forget(row: Row) -> None:
    """Call until an object is created, and forget the response."""
    kind = row.type
    assert isinstance(kind, Adopts)
    for _ in range(10):
        assert kind.find(row.call("CREATE")) is None
        outcome = kind.create(row.call("CREATE"))
        if outcome.physical_id is not None:
            return
        assert isinstance(outcome, Wait), outcome
        row.note(replace(outcome, physical_id=None))
    raise AssertionError("nothing was made")
