"""A signal to a restarter replaces a resource and all that needs it, once."""

from __future__ import annotations

import json
from typing import Any

import pytest
from tests.engine_world import Lab, in_lab, template, thing
from tests.simulation.scenario import Kill
from tests.simulation.world import CALLER, EngineLife, World

from stoker.engine.model.requests import StackRequest


def restarted(**more: dict[str, Any]) -> dict[str, Any]:
    """Return a template with an instance, two dependents, another resource, and a restarter."""
    return template(
        {
            "server": thing(slow=2),
            "address": thing(uses={"get_resource": "server"}),
            "volume": thing(depends_on="address"),
            "other": thing(),
            "restarter": {
                "type": "Sim::Restarter",
                "properties": {"InstanceId": {"get_resource": "server"}},
            },
            "watcher": thing(uses={"get_resource": "restarter"}),
            **more,
        }
    )


async def signal(lab: Lab) -> None:
    """Signal the restarter, do not wait."""
    address = await lab.engine.operations.find(CALLER, "stack")
    await lab.engine.signals.signal(CALLER, address, "restarter", {})


async def objects(lab: Lab) -> dict[str, str | None]:
    """The objects of the resources, by name; in the cloud there are no others."""
    found = {name: row.physical_id for name, row in (await lab.rows()).items()}
    things = {object_id for name, object_id in found.items() if name != "restarter"}
    assert things == set(lab.cloud.objects)
    return found


async def told(lab: Lab) -> list[str]:
    """Return the event reasons about signals."""
    return [
        f"{each.status}: {each.reason}" for each in await lab.events() if each.action == "SIGNAL"
    ]


def test_restart_replaces_resource_and_its_dependents_only() -> None:
    async def story(lab: Lab) -> None:
        await lab.create(restarted())
        before = await objects(lab)
        await signal(lab)
        await lab.engine.dispatch.idle()
        assert await lab.status() == "UPDATE_COMPLETE"
        after = await objects(lab)
        changed = {name for name, object_id in after.items() if before[name] != object_id}
        assert changed == {"server", "address", "volume"}
        assert (await lab.rows())["restarter"].properties["InstanceId"] == after["server"]
        assert await told(lab) == ["COMPLETE: restart of address, server, volume"]
        assert not [row.name for row in (await lab.rows()).values() if row.unhealthy]

    in_lab(story)


def test_restart_signal_for_replaced_object_changes_nothing() -> None:
    async def story(lab: Lab) -> None:
        await lab.create(restarted())
        await signal(lab)
        await lab.pass_time(1)
        await signal(lab)
        await lab.engine.dispatch.idle()
        first = await objects(lab)
        assert (await told(lab))[-1].startswith("COMPLETE: no change: address, server, volume was")
        await signal(lab)
        await lab.engine.dispatch.idle()
        assert (await objects(lab))["server"] != first["server"]

    in_lab(story)


def test_update_beside_restart_is_not_lost() -> None:
    async def story(lab: Lab) -> None:
        await lab.create(restarted())
        before = await objects(lab)
        await lab.begin_update(restarted(new=thing(slow=5)))
        await lab.pass_time(0.5)
        await signal(lab)
        await lab.engine.dispatch.idle()
        assert await lab.status() == "UPDATE_COMPLETE"
        after = await objects(lab)
        assert "new" in after
        assert after["server"] != before["server"]

    in_lab(story)


def test_a_restarter_of_nothing_says_so() -> None:
    async def story(lab: Lab) -> None:
        lost = {"type": "Sim::Restarter", "properties": {"InstanceId": "elsewhere"}}
        await lab.create(restarted(restarter=lost))
        before = await objects(lab)
        await signal(lab)
        await lab.engine.dispatch.idle()
        assert await objects(lab) == before
        [event] = await told(lab)
        assert event.startswith('FAILED: no resource of this stack has the reference "elsewhere"')
        assert await lab.status() == "CREATE_COMPLETE"

    in_lab(story)


def test_parent_stacks_show_restarted_resource() -> None:
    async def story(lab: Lab) -> None:
        shown = {"server": {"value": {"get_resource": "server"}}}
        files = {
            "inner.yaml": json.dumps({**restarted(), "outputs": shown}),
            "middle.yaml": json.dumps(nested("inner.yaml")),
        }
        address = await lab.create(nested("middle.yaml"), files=files)
        before = (await lab.engine.views.output(CALLER, address, "server")).value
        [middle] = await lab.engine.ports.store.children(address.id)
        [inner] = await lab.engine.ports.store.children(middle.id)
        await lab.engine.signals.signal(CALLER, inner.address, "restarter", {})
        await lab.engine.dispatch.idle()
        after = (await lab.engine.views.output(CALLER, address, "server")).value
        assert after != before
        assert after in lab.cloud.objects
        assert await lab.status() == "CREATE_COMPLETE"

    in_lab(story)


def nested(file: str) -> dict[str, Any]:
    """A template around another one."""
    outputs = {"server": {"value": {"get_attr": ["n", "server"]}}}
    return template({"n": {"type": file}}, outputs=outputs)


@pytest.mark.parametrize("turn", range(1, 90, 4))
def test_wherever_the_engine_dies_there_is_one_restart(turn: int) -> None:
    world = World(5)
    world.cloud.trouble = 0.0
    accepted = []

    async def create(engine: EngineLife) -> None:
        await engine.operations.create(CALLER, StackRequest(name="stack", template=restarted()))
        await engine.dispatch.idle()

    async def restart(engine: EngineLife) -> None:
        lab = Lab(engine, world)
        await signal(lab)
        accepted.append(True)
        await engine.dispatch.idle()

    async def finish(engine: EngineLife) -> tuple[int, int, str, list[str]]:
        await engine.dispatch.recover()
        await engine.dispatch.idle()
        lab = Lab(engine, world)
        await objects(lab)
        marked = [row.name for row in (await lab.rows()).values() if row.unhealthy]
        begun = [e for e in await lab.history() if e == "server CREATE_COMPLETE"]
        return len(begun), len(await told(lab)), await lab.status(), marked

    world.live(create)
    world.live(restart, Kill(turn, returns=False))
    once, never = (2, 1, "UPDATE_COMPLETE", []), (1, 0, "CREATE_COMPLETE", [])
    assert world.live(finish) in ([once] if accepted else [once, never])
