"""Objects that the service accepts only once are deleted before they are replaced."""

from __future__ import annotations

from typing import Any

import pytest
from tests.clouds.fake_cloud import FakeCloud
from tests.engine_world import Lab, template, thing
from tests.network_world import in_network_world

GROUP = {"type": "OS::Neutron::SecurityGroup"}


def rule(port: int = 22, **properties: Any) -> dict[str, Any]:
    given = {"protocol": "tcp", "port_range_min": port, "port_range_max": port, **properties}
    group = {"security_group": {"get_resource": "g"}}
    return {"type": "OS::Neutron::SecurityGroupRule", "properties": {**given, **group}}


def rules(cloud: FakeCloud) -> list[tuple[int, str]]:
    return [
        (each["port_range_min"], each["description"])
        for each in cloud.all("security-group-rules")
        if each["direction"] == "ingress"
    ]


def test_rule_description_is_changed() -> None:
    async def story(lab: Lab, cloud: FakeCloud) -> None:
        await lab.create(template({"g": GROUP, "r": rule()}))
        await lab.update(template({"g": GROUP, "r": rule(description="new")}))
        assert await lab.status() == "UPDATE_COMPLETE", (await lab.stack()).reason
        assert rules(cloud) == [(22, "new")]
        await lab.delete()
        assert cloud.all("security-group-rules") == []

    in_network_world(story)


@pytest.mark.parametrize("rollback", [True, False])
def test_rule_that_made_way_is_created_again(rollback: bool) -> None:
    async def story(lab: Lab, cloud: FakeCloud) -> None:
        first = {"g": GROUP, "r": rule(description="old")}
        await lab.create(template(first))
        failing = {"g": GROUP, "r": rule(description="new"), "last": thing("r", fail="create")}
        await lab.update(template(failing), disable_rollback=not rollback)
        if not rollback:
            assert rules(cloud) == [(22, "new")]
            await lab.update(template(first))
        assert (await lab.status()).endswith("COMPLETE"), (await lab.stack()).reason
        assert rules(cloud) == [(22, "old")]
        [found] = [each for each in cloud.all("security-group-rules") if "protocol" in each]
        assert (await lab.rows())["r"].physical_id == found["id"]

    in_network_world(story)


def test_rule_with_rejected_replacement_is_created_again() -> None:
    async def story(lab: Lab, cloud: FakeCloud) -> None:
        await lab.create(template({"g": GROUP, "r": rule(description="old")}))
        cloud.refuse("POST", "/security-group-rules", 403, "not allowed")
        wanted = template({"g": GROUP, "r": rule(description="new")})
        await lab.update(wanted, disable_rollback=False)
        assert await lab.status() == "ROLLBACK_COMPLETE", (await lab.stack()).reason
        assert rules(cloud) == [(22, "old")]

    in_network_world(story)


def test_lost_second_create_of_rule_is_recovered() -> None:
    async def story(lab: Lab, cloud: FakeCloud) -> None:
        await lab.create(template({"g": GROUP, "r": rule(description="old")}))
        cloud.refuse("POST", "/security-group-rules", 403, "not allowed")
        cloud.lose_answer("POST", "/security-group-rules")
        wanted = template({"g": GROUP, "r": rule(description="new")})
        await lab.update(wanted, disable_rollback=False)
        assert await lab.status() == "ROLLBACK_COMPLETE", (await lab.stack()).reason
        assert rules(cloud) == [(22, "old")]

    in_network_world(story)


def test_rule_is_replaced_beside_old_one() -> None:
    async def story(lab: Lab, cloud: FakeCloud) -> None:
        await lab.create(template({"g": GROUP, "r": rule()}))
        cloud.refuse("POST", "/security-group-rules", 403, "not allowed")
        [before] = [each["id"] for each in cloud.all("security-group-rules") if "protocol" in each]
        await lab.update(template({"g": GROUP, "r": rule(80)}))
        assert await lab.status() == "UPDATE_FAILED"
        assert before in cloud.tables["security-group-rules"]

    in_network_world(story)


def test_interface_is_created_again_without_its_port() -> None:
    base = {
        "n": {"type": "OS::Neutron::Net"},
        "s": {
            "type": "OS::Neutron::Subnet",
            "properties": {"network": {"get_resource": "n"}, "cidr": "10.0.0.0/24"},
        },
        "r": {"type": "OS::Neutron::Router"},
    }
    port = {
        "type": "OS::Neutron::Port",
        "properties": {"network": {"get_resource": "n"}},
        "depends_on": "s",
    }

    def interface(**end: str) -> dict[str, Any]:
        ends = {name: {"get_resource": value} for name, value in {"router": "r", **end}.items()}
        return {"type": "OS::Neutron::RouterInterface", "properties": ends}

    async def story(lab: Lab, cloud: FakeCloud) -> None:
        await lab.create(template({**base, "p": port, "i": interface(port="p")}))
        assert await lab.status() == "CREATE_COMPLETE", (await lab.stack()).reason
        [router] = cloud.tables["routers"]
        began = lab.world.time()
        await lab.update(template({**base, "i": interface(subnet="s")}))
        assert await lab.status() == "UPDATE_COMPLETE", (await lab.stack()).reason
        assert lab.world.time() - began < 30
        assert [each["device_id"] for each in cloud.all("ports")] == [router]
        await lab.delete()
        assert cloud.all("ports") == []

    in_network_world(story)
