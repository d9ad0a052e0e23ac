"""Marks on unhealthy resources are operations: durable, in order, written by the stack's owner."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest
from tests.engine_world import Lab, in_lab, template, thing
from tests.simulation.scenario import Kill
from tests.simulation.world import CALLER, EngineLife, World

from stoker.engine.model.records import Resource, Stack
from stoker.engine.model.requests import StackRequest
from stoker.kernel.addresses import StackAddress
from stoker.kernel.errors import ActionInProgressError, NotFoundError, ValidationError

WANTED = template({"a": thing(value="1"), "b": thing()})


async def mark(lab: Lab, name: str = "a", *, unhealthy: bool = True) -> None:
    address: StackAddress = (await lab.stack()).address
    await lab.engine.operations.mark_unhealthy(
        CALLER, address, name, unhealthy=unhealthy, reason="broken"
    )


def test_mark_is_stored_before_the_response() -> None:
    async def story(lab: Lab) -> None:
        await lab.create(WANTED)
        for unhealthy, state in ((True, "CHECK_FAILED"), (False, "CHECK_COMPLETE")):
            await mark(lab, unhealthy=unhealthy)
            row = (await lab.rows())["a"]
            assert (f"{row.action}_{row.status}", row.unhealthy) == (state, unhealthy)
            event = (await lab.events())[-1]
            assert (event.resource_name, event.status, event.reason) == ("a", row.status, "broken")
            assert await lab.status() == "CREATE_COMPLETE"
        told = len(await lab.events())
        await mark(lab, unhealthy=False)
        assert len(await lab.events()) == told

    in_lab(story)


def test_update_after_mark_replaces_marked_resource() -> None:
    async def story(lab: Lab) -> None:
        await lab.create(WANTED)
        before = (await lab.rows())["a"].physical_id
        # both are accepted before anybody drives the stack
        unheard, address = lab.unheard(), (await lab.stack()).address
        await unheard.mark_unhealthy(CALLER, address, "a", unhealthy=True, reason="broken")
        await unheard.update(CALLER, address, StackRequest(template=WANTED))
        assert not (await lab.rows())["a"].unhealthy
        lab.engine.dispatch.wake(address.id)
        await lab.engine.dispatch.idle()
        row = (await lab.rows())["a"]
        assert row.physical_id != before
        assert not row.unhealthy

    in_lab(story)


def test_mark_needs_idle_stack_and_known_resource() -> None:
    async def story(lab: Lab) -> None:
        await lab.create(WANTED)
        with pytest.raises(NotFoundError):
            await mark(lab, "zz")
        await lab.begin_update(template({"a": thing(value="2", lag=30), "b": thing()}))
        with pytest.raises(ActionInProgressError):
            await mark(lab, "b")
        await lab.engine.dispatch.idle()
        assert not (await lab.rows())["b"].unhealthy

    in_lab(story)


@pytest.mark.parametrize("turns", range(4, 40, 4))
def test_accepted_mark_survives_a_crash(turns: int) -> None:
    world = World(3)
    world.cloud.trouble = 0.0

    async def make(engine: EngineLife) -> None:
        await Lab(engine, world).create(WANTED)

    async def begin(engine: EngineLife) -> None:
        await mark(Lab(engine, world))

    async def end(engine: EngineLife) -> bool:
        await engine.dispatch.idle()
        return (await Lab(engine, world).rows())["a"].unhealthy

    world.live(make)
    world.live(begin, Kill(turns, returns=False))
    with world.database.connect() as connection:
        query = "SELECT count(*) FROM operations WHERE kind = 'mark'"
        accepted = bool(connection.exec_driver_sql(query).scalar())
    assert world.live(end) is accepted


def group(kind: str = "OS::Heat::ResourceGroup") -> dict[str, Any]:
    member = {"type": "Sim::Thing", "properties": {"value": "m"}}
    if kind == "OS::Heat::ResourceGroup":
        return {"type": kind, "properties": {"count": 3, "resource_def": member}}
    return {"type": kind, "properties": {"min_size": 3, "max_size": 3, "resource": member}}


INNER = template({"g": group()})
FILES = {"inner.yaml": str(INNER)}


async def below(lab: Lab, *names: str) -> tuple[Stack, dict[str, Resource]]:
    """The nested stack on this way down, and its rows by name."""
    store, stack = lab.engine.ports.store, await lab.stack()
    for name in names:
        [stack] = [c for c in await store.children(stack.id) if c.parent_resource == name]
    rows = await store.resources(stack.id)
    return stack, {row.name: row for row in rows if row.replaced_by is None}


@pytest.mark.parametrize(
    ("wanted", "way"),
    [
        (template({"g": group()}), ("g",)),
        (template({"g": group("OS::Heat::AutoScalingGroup")}), ("g",)),
        (template({"n": {"type": "inner.yaml"}}), ("n", "g")),
    ],
)
def test_marked_member_is_replaced_by_update_of_parent(
    wanted: Mapping[str, Any], way: tuple[str, ...]
) -> None:
    async def story(lab: Lab) -> None:
        await lab.create(wanted, files=FILES)
        inside, before = await below(lab, *way)
        sick = sorted(before)[1]
        await lab.engine.operations.mark_unhealthy(
            CALLER, inside.address, sick, unhealthy=True, reason="broken"
        )
        await lab.update(wanted, files=FILES)
        assert await lab.status() == "UPDATE_COMPLETE"
        _, after = await below(lab, *way)
        changed = {name for name in after if after[name].physical_id != before[name].physical_id}
        assert (changed, after.keys()) == ({sick}, before.keys())
        assert not after[sick].unhealthy
        assert len(lab.cloud.objects) == 3

    in_lab(story)


def test_unmarked_member_is_kept() -> None:
    async def story(lab: Lab) -> None:
        wanted = template({"g": group()})
        await lab.create(wanted)
        inside, before = await below(lab, "g")
        for unhealthy in (True, False):
            await lab.engine.operations.mark_unhealthy(
                CALLER, inside.address, "1", unhealthy=unhealthy, reason="broken"
            )
        await lab.update(wanted)
        _, after = await below(lab, "g")
        assert {n: r.physical_id for n, r in after.items()} == {
            n: r.physical_id for n, r in before.items()
        }

    in_lab(story)


def test_marked_group_is_replaced_with_all_members() -> None:
    async def story(lab: Lab) -> None:
        wanted = template({"g": group()})
        await lab.create(wanted)
        _, before = await below(lab, "g")
        await mark(lab, "g")
        await lab.update(wanted)
        _, after = await below(lab, "g")
        assert not {r.physical_id for r in before.values()} & {
            r.physical_id for r in after.values()
        }
        assert len(lab.cloud.objects) == 3

    in_lab(story)


def test_resource_can_be_marked_by_physical_id() -> None:
    async def story(lab: Lab) -> None:
        await lab.create(WANTED)
        physical_id = (await lab.rows())["b"].physical_id
        assert physical_id is not None
        await mark(lab, physical_id)
        assert {name: row.unhealthy for name, row in (await lab.rows()).items()} == {
            "a": False,
            "b": True,
        }

    in_lab(story)


def test_ambiguous_physical_id_is_refused() -> None:
    async def story(lab: Lab) -> None:
        same = {"type": "Sim::Thing", "external_id": "object-7"}
        await lab.create(template({"a": same, "b": same}))
        with pytest.raises(ValidationError, match="Multiple resources") as refused:
            await mark(lab, "object-7")
        assert refused.value.error_type.name == "PhysicalResourceIDAmbiguity"

    in_lab(story)


def test_mark_of_uncreated_resource_spares_its_successor() -> None:
    async def story(lab: Lab) -> None:
        lab.cloud.quota = 0
        await lab.create(template({"a": thing(fixed="x")}))
        await mark(lab)
        await lab.engine.dispatch.idle()
        await lab.update(template({"a": thing(fixed="y")}))
        assert lab.cloud.objects == {}
        lab.cloud.quota = None
        await lab.update(template({"a": thing(fixed="x")}))
        assert await lab.status() == "UPDATE_COMPLETE"
        [row] = (await lab.rows()).values()
        assert [row.physical_id] == list(lab.cloud.objects)
        assert lab.cloud.violations == []

    in_lab(story)
