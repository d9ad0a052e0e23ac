"""Plans warn about deleted objects that others use."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from tests.engine_world import Lab, template
from tests.network_world import in_network_world
from tests.simulation.world import CALLER

from stoker.engine.model.requests import StackRequest
from stoker.engine.model.views import PlanWarning

NET: Mapping[str, Any] = {"type": "OS::Neutron::Net"}
PORT: Mapping[str, Any] = {
    "type": "OS::Neutron::Port",
    "properties": {"network": {"get_resource": "net"}},
}


async def warnings(lab: Lab, resources: Mapping[str, Any]) -> Sequence[PlanWarning]:
    address = (await lab.stack()).address
    body = StackRequest(template=template(resources))
    plan = await lab.engine.service.previews.update(CALLER, address, body, warnings=True)
    return plan.warnings


def test_network_with_foreign_port_is_named() -> None:
    async def story(lab: Lab, cloud: Any) -> None:
        await lab.create(template({"net": NET, "port": PORT}))
        assert await lab.status() == "CREATE_COMPLETE"
        assert await warnings(lab, {}) == ()
        [net] = cloud.all("networks")
        cloud.put("ports", network_id=net["id"], device_owner="network:dhcp", fixed_ips=[])
        assert await warnings(lab, {}) == ()
        foreign = cloud.put("ports", network_id=net["id"], device_id="their-server", fixed_ips=[])
        [found] = await warnings(lab, {})
        assert found.path == ("net",)
        assert f"the port {foreign} of their-server outside this stack" in found.message
        assert await warnings(lab, {"net": NET}) == ()
        address = (await lab.stack()).address
        plan = await lab.engine.service.previews.delete(CALLER, address, warnings=True)
        assert [each.path for each in plan.warnings] == [("net",)]
        plan = await lab.engine.service.previews.delete(CALLER, address)
        assert plan.warnings == ()

    in_network_world(story)


def test_broken_service_gives_no_warning() -> None:
    async def story(lab: Lab, cloud: Any) -> None:
        await lab.create(template({"net": NET}))
        [net] = cloud.all("networks")
        cloud.put("ports", network_id=net["id"], fixed_ips=[])
        cloud.refuse("GET", "/ports", 503, "maintenance")
        assert await warnings(lab, {}) == ()
        [_] = await warnings(lab, {})

    in_network_world(story)
