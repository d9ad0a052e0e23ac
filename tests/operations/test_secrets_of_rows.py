"""Events of rows show no hidden values, in an engine that has evaluated none of their inputs."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from functools import partial
from typing import Any

import pytest
from msgspec import structs
from tests.engine_world import Lab, in_lab, template, thing
from tests.simulation.scenario import Kill
from tests.simulation.world import CALLER, EngineLife, World

from stoker.engine.model.evaluation_cache import EvaluationCache
from stoker.engine.model.records import AcquiredStack, Input, Stack
from stoker.engine.model.requests import EventQuery, StackRequest
from stoker.engine.model.secrets import may_have_secrets
from stoker.engine.operations.crash_loop import MAX_ATTEMPTS
from stoker.kernel.logs.masking import MASK

FIRST, SECOND = "first-secret", "second-secret"
SECRET = {"get_param": "p"}
HIDDEN = {"p": {"type": "string", "hidden": True}}
STACK = template({"a": thing(value=SECRET), "b": thing("a")}, parameters=HIDDEN)
CHILD = """
heat_template_version: 2018-08-31
parameters: {p: {type: string, hidden: true}}
resources: {in: {type: Sim::Thing, properties: {value: {get_param: p}}}}
"""
SLOW = template({"a": thing(value=SECRET, slow=60)}, parameters=HIDDEN)
PARENT = template({"a": {"type": "child.yaml", "properties": {"p": FIRST}}})
OPEN_CHILD = CHILD.replace(", hidden: true", "")
FILES = {
    "child.yaml": OPEN_CHILD,
    "middle.yaml": OPEN_CHILD.replace("Sim::Thing", "child.yaml").replace("value:", "p:"),
}


async def update(lab: Lab, **resources: Any) -> None:
    """Accept an update in another process than the one that carries it out."""
    elsewhere = lab.unheard(evaluations=EvaluationCache())
    address = await elsewhere.find(CALLER, "stack")
    wanted = template(resources, parameters=HIDDEN)
    request = StackRequest(
        template=wanted, parameters={"p": SECOND}, files=FILES, disable_rollback=False
    )
    await elsewhere.update(CALLER, address, request)
    await lab.engine.dispatch.recover()
    await lab.engine.dispatch.idle()


async def delete(lab: Lab) -> None:
    await lab.delete()


async def remove(lab: Lab) -> None:
    await update(lab, b=thing())


async def replace(lab: Lab) -> None:
    await update(lab, a=thing(value=SECRET, fixed="x"))


async def fail_and_roll_back(lab: Lab) -> None:
    await update(lab, a=thing(value=SECRET), b=thing("a", fail="update"))
    assert await lab.status() == "ROLLBACK_COMPLETE"


async def mark(lab: Lab) -> None:
    operations = lab.engine.operations
    address = await operations.find(CALLER, "stack")
    await operations.mark_unhealthy(CALLER, address, "a", unhealthy=True, reason=FIRST)


async def check(lab: Lab) -> None:
    await lab.act("check")


async def stacks_below(lab: Lab, stack_id: str) -> list[Stack]:
    found = list(await lab.engine.ports.store.children(stack_id))
    for child in tuple(found):
        found += await stacks_below(lab, child.id)
    return found


async def shown(lab: Lab, stack_ids: list[str]) -> str:
    """Return all events and reasons of stacks as text."""
    store = lab.engine.ports.store
    texts: list[Any] = [await store.events(stack_ids, EventQuery())]
    for stack_id in stack_ids:
        stack = await store.stack(stack_id)
        texts += [stack and stack.reason, *(row.reason for row in await store.resources(stack_id))]
    return str(texts)


def texts_of(wanted: Any, *stories: Callable[[Lab], Awaitable[None]], **request: Any) -> str:
    """Return all events and reasons after stories, each in an engine of its own."""
    world = World(1)
    world.cloud.trouble = 0.0

    async def create(engine: EngineLife) -> list[str]:
        lab = Lab(engine, world)
        address = await lab.create(wanted, **request)
        return [address.id, *(each.id for each in await stacks_below(lab, address.id))]

    stacks = world.live(create)
    assert stacks is not None

    async def go_on(story: Callable[[Lab], Awaitable[None]], engine: EngineLife) -> str:
        lab = Lab(engine, world)
        await story(lab)
        await engine.dispatch.idle()
        return await shown(lab, stacks)

    found = [world.live(partial(go_on, story)) for story in stories]
    return found[-1] or ""


@pytest.mark.parametrize("story", [delete, remove, replace, fail_and_roll_back, mark, check])
def test_events_mask_secrets_of_earlier_inputs(story: Callable[[Lab], Awaitable[None]]) -> None:
    found = texts_of(STACK, story, parameters={"p": FIRST})
    assert MASK in found
    assert FIRST not in found
    assert SECOND not in found


def test_delete_masks_secrets_of_nested_templates() -> None:
    found = texts_of(PARENT, delete, files={"child.yaml": CHILD})
    assert found.count("DELETE") > 2
    assert FIRST not in found


@pytest.mark.parametrize("change", [delete, mark, check, "update", "replace"])
def test_value_known_only_in_the_operation_is_masked(change: Any) -> None:
    def wanted(**properties: Any) -> dict[str, Any]:
        passed = {"p": {"get_attr": ["a", "id"]}}
        nested = {"type": "child.yaml", "properties": passed}
        return template({"a": thing(**properties), "n": nested, "user": thing(uses=passed)})

    changed = {"update": wanted(value="other"), "replace": wanted(fixed="other")}

    async def story(lab: Lab) -> None:
        if change in changed:
            await lab.update(changed[change], files={"child.yaml": CHILD})
        else:
            await change(lab)

    world = World(1)
    world.cloud.trouble = 0.0

    async def create(engine: EngineLife) -> str:
        return (await Lab(engine, world).create(wanted(), files={"child.yaml": CHILD})).id

    async def go_on(stack_id: str, engine: EngineLife) -> list[Any]:
        await story(Lab(engine, world))
        await engine.dispatch.idle()
        events = await engine.ports.store.events([stack_id], EventQuery())
        return [each.properties["p"] for each in events if each.resource_name == "n"]

    stack_id = world.live(create)
    assert stack_id is not None
    found = world.live(partial(go_on, stack_id))
    assert found
    assert set(found) == {MASK}


async def act_on_all(lab: Lab) -> None:
    for action in ("suspend", "resume", "check"):
        await lab.act(action)


async def mark_nested(lab: Lab) -> None:
    operations, address = lab.engine.operations, await lab.engine.operations.find(CALLER, "stack")
    for child in await stacks_below(lab, address.id):
        for row in await lab.engine.ports.store.resources(child.id):
            await operations.mark_unhealthy(
                CALLER, child.address, row.name, unhealthy=True, reason=FIRST
            )


def group(thing_: Any) -> dict[str, Any]:
    return {
        "type": "OS::Heat::ResourceGroup",
        "properties": {"count": 2, "resource_def": thing_},
    }


def scaling_group(thing_: Any) -> dict[str, Any]:
    properties = {"min_size": 2, "max_size": 3, "resource": thing_}
    return {"type": "OS::Heat::AutoScalingGroup", "properties": properties}


def chain(thing_: Any) -> dict[str, Any]:
    properties = {"resources": ["Sim::Thing"], "resource_properties": thing_["properties"]}
    return {"type": "OS::Heat::ResourceChain", "properties": properties}


def in_child(thing_: Any) -> dict[str, Any]:
    return {"type": "child.yaml", "properties": {"p": thing_["properties"]["value"]}}


def in_middle(thing_: Any) -> dict[str, Any]:
    return {**in_child(thing_), "type": "middle.yaml"}


def in_group(thing_: Any) -> dict[str, Any]:
    return group(in_child(thing_))


NESTINGS = [group, scaling_group, chain, in_child, in_middle, in_group]


def nested_update(nest: Callable[[Any], Any]) -> Callable[[Lab], Awaitable[None]]:
    async def story(lab: Lab) -> None:
        await update(lab, a=nest(thing(value=SECRET)), b=thing("a"))
        assert await lab.status() == "UPDATE_COMPLETE"

    return story


def nested_rollback(nest: Callable[[Any], Any]) -> Callable[[Lab], Awaitable[None]]:
    async def story(lab: Lab) -> None:
        await update(lab, a=nest(thing(value=SECRET)), b=thing("a", fail="update"))
        assert await lab.status() == "ROLLBACK_COMPLETE"

    return story


@pytest.mark.parametrize("nest", NESTINGS)
def test_nested_stacks_mask_secrets_of_stacks_above(nest: Callable[[Any], Any]) -> None:
    wanted = template({"a": nest(thing(value=SECRET)), "b": thing("a")}, parameters=HIDDEN)
    own = (nested_rollback(nest), nested_update(nest))
    stories = (act_on_all, mark_nested, *own, act_on_all, nested_rollback(nest), delete)
    found = texts_of(wanted, *stories, parameters={"p": FIRST}, files=FILES)
    assert found.count(MASK) > len(stories)
    assert FIRST not in found
    assert SECOND not in found


@pytest.mark.parametrize("nest", NESTINGS)
def test_direct_change_of_nested_stack_masks_secrets_above(nest: Callable[[Any], Any]) -> None:
    async def story(lab: Lab) -> None:
        address = await lab.create(
            template({"a": nest(thing(value=SECRET))}, parameters=HIDDEN),
            parameters={"p": FIRST},
            files=FILES,
        )
        below = await stacks_below(lab, address.id)
        for child in below:
            await lab.engine.operations.act(CALLER, child.address, "check")
            await lab.engine.dispatch.idle()
        found = await shown(lab, [each.id for each in below])
        assert "CHECK" in found
        assert MASK in found
        assert FIRST not in found

    in_lab(story)


def texts_after_crash(nest: Callable[[Any], Any], turns: int) -> tuple[bool, str]:
    """Return whether a rollback ended before its engine was killed, and all events and reasons."""
    world = World(1)
    world.cloud.trouble = 0.0

    async def create(engine: EngineLife) -> list[str]:
        wanted = template({"a": nest(thing(value=SECRET)), "b": thing("a")}, parameters=HIDDEN)
        lab = Lab(engine, world)
        address = await lab.create(wanted, parameters={"p": FIRST}, files=FILES)
        return [address.id, *(each.id for each in await stacks_below(lab, address.id))]

    stacks = world.live(create) or []

    async def fail(engine: EngineLife) -> bool:
        await nested_rollback(nest)(Lab(engine, world))
        return True

    has_ended = world.live(fail, Kill(turns, returns=False)) or False

    async def recover(engine: EngineLife) -> str:
        await engine.dispatch.idle()
        return await shown(Lab(engine, world), stacks)

    return has_ended, world.live(recover) or ""


@pytest.mark.parametrize("nest", [lambda body: body, group, in_middle])
def test_rollback_after_crash_masks_secrets_of_failed_update(nest: Callable[[Any], Any]) -> None:
    for turns in range(5, 1000, 31):
        has_ended, found = texts_after_crash(nest, turns)
        assert MASK in found
        assert FIRST not in found
        assert SECOND not in found
        if has_ended:
            return
    pytest.fail("every engine was killed")


async def fail_twice(lab: Lab) -> None:
    await update(lab, a=thing(value=SECRET), b=thing("a", fail="update"))
    assert await lab.status() == "ROLLBACK_FAILED"


async def update_again(lab: Lab) -> None:
    await update(lab, a=thing(value="known", fixed="x"))
    assert await lab.status() == "UPDATE_COMPLETE"


@pytest.mark.parametrize("last", [delete, check, mark, update_again])
def test_secrets_stay_masked_after_failed_rollback(last: Callable[[Lab], Awaitable[None]]) -> None:
    unmovable = thing(value=SECRET, fail="update")
    wanted = template({"a": unmovable, "b": thing("a")}, parameters=HIDDEN)
    # The check leaves a complete stack whose resources still have the values of the failed update.
    found = texts_of(wanted, fail_twice, check, last, parameters={"p": FIRST})
    assert MASK in found
    assert FIRST not in found
    assert SECOND not in found


def test_abandoned_operation_shows_no_secret() -> None:
    world = World(1)

    async def begin(engine: EngineLife) -> str:
        lab = Lab(engine, world)
        address = await lab.begin_create(SLOW, parameters={"p": FIRST})
        await lab.pass_time(1.0)
        return address.id

    async def give_up(engine: EngineLife, stack_id: str) -> str:
        store = engine.ports.store
        acquire = store.acquire

        async def once_more(stack_id: str) -> AcquiredStack | None:
            acquired = await acquire(stack_id)
            assert acquired is not None
            stack = structs.replace(acquired.stack, attempts=MAX_ATTEMPTS)
            return structs.replace(acquired, stack=stack)

        store.acquire = once_more  # type: ignore[method-assign]
        await engine.dispatch.recover()
        await engine.dispatch.idle()
        return await shown(Lab(engine, world), [stack_id])

    found = world.live(partial(give_up, stack_id=world.live(begin) or "")) or ""
    assert "aborted: abandoned after" in found
    assert FIRST not in found


def test_nested_stacks_read_input_above_once() -> None:
    """Another engine deletes a tree whose root has secrets."""
    many = {f"a{n}": in_child(thing(value=SECRET)) for n in range(20)}
    read: list[str] = []

    async def delete_counted(lab: Lab) -> None:
        store, root = lab.engine.ports.store, await lab.stack()
        read_input = store.input

        async def counted(input_id: str) -> Input:
            read.append(input_id)
            return await read_input(input_id)

        store.input = counted  # type: ignore[method-assign]
        await delete(lab)
        assert read.count(root.input_id) == 1

    found = texts_of(
        template(many, parameters=HIDDEN), delete_counted, parameters={"p": FIRST}, files=FILES
    )
    assert FIRST not in found


def test_signal_of_creation_policy_shows_no_secret() -> None:
    policy = {"ResourceSignal": {"Count": 1, "Timeout": "PT10M"}}
    body = {"Type": "Sim::Thing", "Properties": {"value": {"Ref": "P"}}, "CreationPolicy": policy}
    wanted = {
        "AWSTemplateFormatVersion": "2010-09-09",
        "Parameters": {"P": {"Type": "String", "NoEcho": True}},
        "Resources": {"A": body},
    }

    async def story(lab: Lab) -> None:
        address = await lab.begin_create(wanted, parameters={"P": FIRST})
        await lab.pass_time(60.0)
        signals = lab.engine.signals
        await signals.creation_signal(CALLER, address, "A", "id", success=True)
        await lab.engine.dispatch.idle()
        assert await lab.status() == "CREATE_COMPLETE"
        assert any(each.action == "SIGNAL" for each in await lab.events())
        assert FIRST not in str(await lab.events())

    in_lab(story)


@pytest.mark.parametrize(
    ("text", "expected"),
    [("parameters: {p: {hidden: true}}", True), (r'"hid\x64en"', True), ("resources: {}", False)],
)
def test_text_decides_whether_input_may_have_secrets(text: str, expected: bool) -> None:
    own = Input("i", "s", {}, "resources: {}", files={"child.yaml": text})
    assert may_have_secrets(own) is expected
    assert may_have_secrets(Input("i", "s", {}, text)) is expected
