"""P9: a part that a resource and a property both declare stays until neither of them does.

The types and the cloud's objects are those of OpenStack: moving a part from one to the other, in
either direction, must leave the object as it was.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, ClassVar

import pytest
from tests.clouds.fake_cloud import FakeCloud
from tests.engine_world import Lab, template, thing
from tests.network_world import NetworkWorld, in_network_world

from stoker.clouds.objects.collections import SECURITY_GROUP_RULES
from stoker.resources.base import declare
from stoker.schema.resource_type import Call, Done, ManagedType, Outcome


class Kept(ManagedType):
    """Something within a router."""

    type_name = "Sim::Kept"
    service = "sim"
    properties = {
        "of": declare.by_name("neutron.router", "Router", update_allowed=True),
        "also": declare.by_name("neutron.router", "Router that is gone by the time of the delete"),
    }
    deleted: ClassVar[list[tuple[str, str]]] = []
    updated: ClassVar[list[tuple[str, str]]] = []

    def create(self, call: Call) -> Outcome:
        return Done(call.physical_name)

    def update(self, call: Call) -> Outcome:
        self.updated.append((call.update.previous["of"], call.properties["of"]))
        return Done()

    def delete(self, call: Call) -> Outcome:
        self.deleted.append((call.properties["of"], call.properties["also"]))
        return Done()


class Holder(ManagedType):
    """Something with a part that others may declare, too."""

    type_name = "Sim::Holder"
    service = "sim"
    shares = frozenset({"held"})
    properties = {"reads": declare.boolean("Read the parts of others.")}
    determined: ClassVar[list[str]] = []

    def create(self, call: Call) -> Outcome:
        return Done(call.physical_name, {"others": len(call.shared)} if self._reads(call) else {})

    def delete(self, call: Call) -> Outcome:
        return Done()

    def parts(self, call: Call) -> set[str]:
        self.determined.append(call.name)
        return {call.name}

    def _reads(self, call: Call) -> bool:
        return bool(call.properties.get("reads"))


Resources = Mapping[str, Any]


def resource(type_: str, **properties: Any) -> dict[str, Any]:
    return {"type": type_, "properties": properties}


def ref(name: str) -> dict[str, str]:
    return {"get_resource": name}


SSH = {"protocol": "tcp", "port_range_min": 22, "port_range_max": 22}
GROUP = "OS::Neutron::SecurityGroup"
RULE = resource("OS::Neutron::SecurityGroupRule", security_group=ref("g"), **SSH)
ROUTE = {"destination": "10.9.0.0/24", "nexthop": "10.0.0.9"}
BASE = {"r": resource("OS::Neutron::Router")}
ADDRESS = {"floating_network": "public"}


SERVED = {
    "n": resource("OS::Neutron::Net"),
    "sub": resource("OS::Neutron::Subnet", network=ref("n"), cidr="10.0.0.0/24"),
    "way": resource("OS::Neutron::Router", external_gateway_info={"network": "public"}),
    "i": resource("OS::Neutron::RouterInterface", router=ref("way"), subnet=ref("sub")),
    "p": resource("OS::Neutron::Port", network=ref("n")),
    "f": resource("OS::Neutron::FloatingIP", **ADDRESS),
}


def server(**network: Any) -> dict[str, Any]:
    given = {"image": "image", "flavor": "flavor", "networks": [network]}
    return resource("OS::Nova::Server", user_data_format="RAW", **given)


def led(cloud: FakeCloud) -> Any:
    return [each["port_id"] is not None for each in cloud.all("floatingips")]


def rules(cloud: FakeCloud) -> Any:
    found = [each for each in cloud.all("security-group-rules") if each["direction"] == "ingress"]
    return [each["port_range_min"] for each in found]


def gateways(cloud: FakeCloud) -> Any:
    return [each.get("external_gateway_info") for each in cloud.all("routers")]


def routes(cloud: FakeCloud) -> Any:
    return [each["routes"] for each in cloud.all("routers")]


def leads(cloud: FakeCloud) -> Any:
    return [each["port_id"] for each in cloud.all("floatingips")]


PAIRS: dict[str, tuple[Resources, Resources, Callable[[FakeCloud], Any], Any]] = {
    "rule": (
        {"g": resource(GROUP), "own": RULE},
        {"g": resource(GROUP, rules=[SSH])},
        rules,
        [22],
    ),
    "rule of an AWS group": (
        {"g": resource("AWS::EC2::SecurityGroup", GroupDescription="d"), "own": RULE},
        {
            "g": resource(
                "AWS::EC2::SecurityGroup",
                GroupDescription="d",
                SecurityGroupIngress=[{"IpProtocol": "tcp", "FromPort": "22", "ToPort": "22"}],
            )
        },
        rules,
        [22],
    ),
    "gateway": (
        {
            **BASE,
            "own": resource("OS::Neutron::RouterGateway", router_id=ref("r"), network="public"),
        },
        {"r": resource("OS::Neutron::Router", external_gateway_info={"network": "public"})},
        gateways,
        [{"network_id": "public"}],
    ),
    "route": (
        {**BASE, "own": resource("OS::Neutron::ExtraRoute", router_id=ref("r"), **ROUTE)},
        {**BASE, "set": resource("OS::Neutron::ExtraRouteSet", router=ref("r"), routes=[ROUTE])},
        routes,
        [[ROUTE]],
    ),
    "floating IP of a server": (
        {
            **SERVED,
            "s": server(port=ref("p")),
            "own": resource(
                "OS::Neutron::FloatingIPAssociation",
                floatingip_id=ref("f"),
                port_id=ref("p"),
            )
            | {"depends_on": "s"},
        },
        {**SERVED, "s": server(port=ref("p"), floating_ip=ref("f"))},
        led,
        [True],
    ),
    "floating IP": (
        {
            "f": resource("OS::Neutron::FloatingIP", **ADDRESS),
            "own": resource(
                "OS::Neutron::FloatingIPAssociation", floatingip_id=ref("f"), port_id="port"
            ),
        },
        {"f": resource("OS::Neutron::FloatingIP", port_id="port", **ADDRESS)},
        leads,
        ["port"],
    ),
}


@pytest.fixture(params=PAIRS)
def pair(request: pytest.FixtureRequest) -> Any:
    return PAIRS[request.param]


def test_part_moved_into_a_property_is_kept(pair: Any) -> None:
    own, within, look, expected = pair

    async def story(lab: Lab, cloud: FakeCloud) -> None:
        await lab.create(template(own))
        assert look(cloud) == expected
        await lab.update(template(within))
        assert (await lab.status(), look(cloud)) == ("UPDATE_COMPLETE", expected)
        await lab.delete()
        assert not cloud.all("routers")
        assert not look(cloud)

    in_network_world(story)


def test_part_that_becomes_a_resource_is_kept(pair: Any) -> None:
    own, within, look, expected = pair

    async def story(lab: Lab, cloud: FakeCloud) -> None:
        await lab.create(template(within))
        assert look(cloud) == expected
        await lab.update(template(own))
        assert (await lab.status(), look(cloud)) == ("UPDATE_COMPLETE", expected)
        await lab.update(template({k: v for k, v in own.items() if k != "own"}))
        assert look(cloud) not in (expected, None)

    in_network_world(story)


@pytest.mark.parametrize("rollback", [True, False])
@pytest.mark.parametrize("forward", [True, False])
def test_part_survives_rollback_of_its_move(pair: Any, rollback: bool, forward: bool) -> None:
    own, within, look, expected = pair
    first, second = (own, within) if forward else (within, own)

    async def story(lab: Lab, cloud: FakeCloud) -> None:
        await lab.create(template(first))
        last = next(name for name in reversed(second))
        failing = {**second, "last": thing(last, fail="create")}
        await lab.update(template(failing), disable_rollback=not rollback)
        if not rollback:
            assert await lab.status() == "UPDATE_FAILED"
            assert look(cloud) == expected
            await lab.update(template(first))
        assert (await lab.status()).endswith("COMPLETE"), (await lab.stack()).reason
        assert look(cloud) == expected

    in_network_world(story)


def test_part_can_be_declared_twice(pair: Any) -> None:
    own, within, look, expected = pair

    async def story(lab: Lab, cloud: FakeCloud) -> None:
        await lab.create(template({**own, **within}))
        assert await lab.status() == "CREATE_COMPLETE", (await lab.stack()).reason
        assert look(cloud) == expected
        await lab.update(template(own))
        assert look(cloud) == expected

    in_network_world(story)


def test_foreign_part_is_neither_adopted_nor_removed() -> None:
    async def story(lab: Lab, cloud: FakeCloud) -> None:
        await lab.create(template({"g": resource(GROUP)}))
        body = {"security_group_id": (await lab.rows())["g"].physical_id, "direction": "ingress"}
        SECURITY_GROUP_RULES.create(cloud.connection, {**body, "ethertype": "IPv4", **SSH})
        await lab.update(template({"g": resource(GROUP), "own": RULE}))
        assert await lab.status() == "UPDATE_FAILED"
        assert "This stack did not create it" in (await lab.stack()).reason
        await lab.update(template({"g": resource(GROUP)}))
        assert rules(cloud) == [22]

    in_network_world(story)


def test_delete_sends_ids_for_given_names() -> None:
    async def story(lab: Lab, cloud: FakeCloud) -> None:
        gate, gone = (cloud.put("routers", name=name) for name in ("gate", "gone"))
        Kept.deleted.clear()
        await lab.create(template({"kept": resource("Sim::Kept", of="gate", also="gone")}))
        del cloud.tables["routers"][gone]
        await lab.delete()
        assert Kept.deleted == [(gate, "gone")]

    in_network_world(story, Kept())


def test_update_replaces_the_name_of_a_deleted_object() -> None:
    async def story(lab: Lab, cloud: FakeCloud) -> None:
        gate, gone = (cloud.put("routers", name=name) for name in ("gate", "gone"))
        Kept.updated.clear()
        await lab.create(template({"kept": resource("Sim::Kept", of="gone")}))
        del cloud.tables["routers"][gone]
        await lab.update(template({"kept": resource("Sim::Kept", of="gate")}))
        assert (await lab.status(), Kept.updated) == ("UPDATE_COMPLETE", [("gone", gate)])

    in_network_world(story, Kept())


def test_part_of_named_object_keeps_its_identity() -> None:
    named = resource("OS::Neutron::SecurityGroupRule", security_group="web", **SSH)

    async def story(lab: Lab, cloud: FakeCloud) -> None:
        first = {"g": resource(GROUP, name="web"), "own": {**named, "depends_on": "g"}}
        await lab.create(template(first))
        await lab.update(template({"g": resource(GROUP, name="web", rules=[SSH])}))
        assert (await lab.status(), rules(cloud)) == ("UPDATE_COMPLETE", [22])

    in_network_world(story)


def test_shared_parts_are_determined_on_first_read() -> None:
    async def story(lab: Lab, _: FakeCloud) -> None:
        Holder.determined.clear()
        silent = {f"silent{n}": resource("Sim::Holder") for n in range(20)}
        await lab.create(template(silent))
        assert Holder.determined == []
        reader = resource("Sim::Holder", reads=True)
        await lab.update(template({**silent, "reader": reader}))
        assert sorted(Holder.determined) == sorted(silent)

    in_network_world(story, Holder())


def test_own_ids_are_not_looked_up() -> None:
    world = NetworkWorld(Kept())

    async def story(lab: Lab) -> None:
        gate = world.network.put("routers", name="gate")
        resources = {
            "r": resource("OS::Neutron::Router"),
            "own": resource("Sim::Kept", of=ref("r")),
            "given": resource("Sim::Kept", of=gate),
            "named": resource("Sim::Kept", of="gate"),
        }
        await lab.create(template(resources))
        assert await lab.status() == "CREATE_COMPLETE"
        assert sorted(world.clouds.looked_up) == sorted([gate, "gate"])

    world.live(lambda engine: story(Lab(engine, world)))
