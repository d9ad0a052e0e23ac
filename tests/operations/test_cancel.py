"""Cancels:

with rollback the stack returns to its last state, without it no further action starts.
"""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from tests.engine_world import Lab, in_lab, template, thing
from tests.simulation.world import CALLER, EngineLife, World

from stoker.engine.model.records import Status
from stoker.engine.model.requests import StackRequest
from stoker.kernel.addresses import StackAddress
from stoker.kernel.errors import ActionInProgressError, NotFoundError, NotSupportedError

CHILD = """
heat_template_version: 2018-08-31
parameters:
  value: {type: string}
resources:
  first:
    type: Sim::Thing
    properties: {value: {get_param: value}, fixed: {get_param: value}, slow: 20}
  second:
    type: Sim::Thing
    properties: {value: {get_param: value}, uses: {get_resource: first}}
"""
FILES = {"child.yaml": CHILD}


async def cancel(lab: Lab, *, back: bool = False) -> None:
    address = (await lab.stack()).address
    action = "cancel_update" if back else "cancel_without_rollback"
    await lab.engine.operations.act(CALLER, address, action)


async def states(lab: Lab, stack_id: str | None = None) -> dict[str, str]:
    if stack_id is None:
        stack_id = (await lab.stack()).id
    rows = await lab.engine.ports.store.resources(stack_id)
    return {row.name: f"{row.action}_{row.status}" for row in rows if row.replaced_by is None}


async def told(lab: Lab) -> list[str]:
    """The events of the stack itself."""
    return [
        f"{event.action}_{event.status} {event.reason}"
        for event in await lab.events()
        if event.resource_id is None
    ]


def chain(value: str, **properties: Any) -> dict[str, Any]:
    """Two resources; the second depends on the first."""
    return template(
        {"a": thing(value=value, **properties), "b": thing(value=value, depends_on="a")}
    )


def test_cancel_fails_update_immediately_and_finishes_started_calls() -> None:
    async def story(lab: Lab) -> None:
        await lab.create(chain("1"))
        await lab.begin_update(chain("2", fixed="new", slow=20), disable_rollback=False)
        await lab.pass_time(5)
        await cancel(lab)
        await lab.pass_time(1)
        assert await lab.status() == "UPDATE_FAILED"
        assert (await lab.stack()).reason == "Stack UPDATE cancelled"
        assert await states(lab) == {"a": "CREATE_IN_PROGRESS", "b": "CREATE_COMPLETE"}
        await lab.engine.dispatch.idle()
        assert await states(lab) == {"a": "CREATE_COMPLETE", "b": "CREATE_COMPLETE"}
        assert (await lab.rows())["b"].properties["value"] == "1"
        assert (await told(lab))[2:] == [
            "UPDATE_IN_PROGRESS Stack UPDATE started",
            "UPDATE_FAILED Stack UPDATE cancelled",
        ]
        await lab.update(chain("2", fixed="new", slow=20))
        assert await states(lab) == {"a": "CREATE_COMPLETE", "b": "UPDATE_COMPLETE"}
        assert len(lab.cloud.objects) == 2

    in_lab(story)


def test_cancel_keeps_replaced_object_while_used() -> None:
    def pair(**properties: Any) -> dict[str, Any]:
        used = {"get_resource": "a"}
        return template({"a": thing(**properties), "b": thing(uses=used)})

    async def story(lab: Lab) -> None:
        await lab.create(pair())
        before = (await lab.rows())["a"].physical_id
        await lab.begin_update(pair(fixed="new", slow=20))
        await lab.pass_time(5)
        await cancel(lab)
        await lab.engine.dispatch.idle()
        assert await states(lab) == {"a": "CREATE_COMPLETE", "b": "CREATE_COMPLETE"}
        assert before in lab.cloud.objects
        await lab.update(pair(fixed="new", slow=20))
        assert before not in lab.cloud.objects
        assert len(lab.cloud.objects) == 2

    in_lab(story)


def test_cancel_waits_for_a_call_in_flight() -> None:
    async def story(lab: Lab) -> None:
        await lab.create(chain("1"))
        await lab.begin_update(chain("2", lag=20))
        await lab.pass_time(5)
        await cancel(lab)
        await lab.engine.dispatch.idle()
        assert (await lab.stack()).reason == "Stack UPDATE cancelled"
        assert await states(lab) == {"a": "UPDATE_COMPLETE", "b": "CREATE_COMPLETE"}

    in_lab(story)


def test_update_after_cancelled_create_keeps_created_objects() -> None:
    async def story(lab: Lab) -> None:
        request = StackRequest(name="stack", template=chain("1", slow=20), disable_rollback=False)
        await lab.engine.operations.create(CALLER, request)
        await lab.pass_time(5)
        await cancel(lab)
        await lab.engine.dispatch.idle()
        stack = await lab.stack()
        assert (await lab.status(), stack.reason) == ("CREATE_FAILED", "Stack CREATE cancelled")
        assert await states(lab) == {"a": "CREATE_COMPLETE"}
        made = (await lab.rows())["a"].physical_id
        await lab.update(chain("1", slow=20))
        assert await lab.status() == "UPDATE_COMPLETE"
        assert (await lab.rows())["a"].physical_id == made

    in_lab(story)


def test_create_cannot_be_cancelled_with_rollback() -> None:
    async def story(lab: Lab) -> None:
        wanted = chain("1", slow=20)
        await lab.engine.operations.create(CALLER, StackRequest(name="stack", template=wanted))
        await lab.pass_time(5)
        with pytest.raises(NotSupportedError, match="when stack is CREATE_IN_PROGRESS"):
            await cancel(lab, back=True)
        await cancel(lab)
        await lab.engine.dispatch.idle()
        assert await lab.status() == "CREATE_FAILED"
        assert lab.cloud.objects

    in_lab(story)


def test_wait_for_signal_continues_after_cancel() -> None:
    async def story(lab: Lab) -> None:
        wanted = {"gate": {"type": "Sim::Gate"}, "b": thing(depends_on="gate")}
        address = await lab.engine.operations.create(
            CALLER, StackRequest(name="stack", template=template(wanted))
        )
        await lab.pass_time(5)
        await cancel(lab)
        await lab.pass_time(5)
        assert await states(lab) == {"gate": "CREATE_IN_PROGRESS"}
        await lab.engine.signals.signal(CALLER, address, "gate", {"number": 1})
        await lab.engine.dispatch.idle()
        assert await states(lab) == {"gate": "CREATE_COMPLETE"}
        assert await lab.status() == "CREATE_FAILED"

    in_lab(story)


def test_cancel_driven_after_timeout_reports_cancel() -> None:
    world = World(1)
    world.cloud.trouble, world.mailbox = 0.0, None

    async def cancelled(engine: EngineLife) -> None:
        lab = Lab(engine, world)
        await lab.begin_create(template({"a": thing(slow=5000)}), timeout_mins=1)
        await lab.pass_time(2)
        await cancel(lab)
        await lab.pass_time(2)

    async def ended(engine: EngineLife) -> tuple[list[str], list[Any], dict[str, str]]:
        lab = Lab(engine, world)
        await engine.dispatch.idle()
        return await told(lab), await lab.operations(), await states(lab)

    world.live(cancelled)
    world.now += 120
    found = world.live(ended)
    assert found == (
        [
            "CREATE_IN_PROGRESS Stack CREATE started",
            "CREATE_FAILED Stack CREATE cancelled",
        ],
        [],
        {"a": "CREATE_FAILED"},
    )


def test_call_left_by_cancel_ends_at_timeout() -> None:
    async def story(lab: Lab) -> None:
        wanted = template({"gate": {"type": "Sim::Gate"}})
        request = StackRequest(name="stack", template=wanted, timeout_mins=1)
        await lab.engine.operations.create(CALLER, request)
        await lab.pass_time(5)
        await cancel(lab)
        await lab.engine.dispatch.idle()
        assert await states(lab) == {"gate": "CREATE_FAILED"}
        assert (await lab.stack()).reason == "Stack CREATE cancelled"

    in_lab(story)


def test_call_left_by_cancel_passes_hooks() -> None:
    async def story(lab: Lab) -> None:
        hooks = {"resource_registry": {"resources": {"a": {"hooks": ["post-create"]}}}}
        request = StackRequest(
            name="stack", template=template({"a": thing(slow=20)}), environment=hooks
        )
        await lab.engine.operations.create(CALLER, request)
        await lab.pass_time(5)
        await cancel(lab)
        await lab.pass_time(60)
        assert await states(lab) == {"a": "CREATE_COMPLETE"}
        assert not [event for event in await lab.events() if "Hook" in event.reason]
        assert await lab.operations() == []

    in_lab(story)


def test_cancel_reaches_nested_stacks() -> None:
    async def story(lab: Lab) -> None:
        def wanted(value: str) -> dict[str, Any]:
            return template({"n": {"type": "child.yaml", "properties": {"value": value}}})

        await lab.create(wanted("1"), files=FILES)
        [child] = await lab.engine.ports.store.children((await lab.stack()).id)
        await lab.begin_update(wanted("2"), files=FILES)
        await lab.pass_time(5)
        await cancel(lab)
        await lab.pass_time(1)
        [below] = await lab.engine.ports.store.children((await lab.stack()).id)
        assert (below.action, below.status) == ("UPDATE", Status.FAILED)
        assert below.reason == "Stack UPDATE cancelled"
        await lab.engine.dispatch.idle()
        inside = await states(lab, child.id)
        assert inside == {"first": "CREATE_COMPLETE", "second": "CREATE_COMPLETE"}
        assert await states(lab) == {"n": "UPDATE_FAILED"}
        await lab.update(wanted("2"), files=FILES)
        assert await lab.status() == "UPDATE_COMPLETE"
        inside = await states(lab, child.id)
        assert inside == {"first": "CREATE_COMPLETE", "second": "UPDATE_COMPLETE"}

    in_lab(story)


@pytest.mark.parametrize("updates", [False, True])
def test_failure_beside_nested_stack_stops_it(
    updates: bool,
) -> None:
    def wanted(inside: str, **beside: Any) -> dict[str, Any]:
        nested = {"type": "middle.yaml", "properties": {"value": inside}}
        return template({"n": nested, "beside": thing(**beside)})

    middle = CHILD[: CHILD.index("resources:")] + (
        "resources: {in: {type: child.yaml, properties: {value: {get_param: value}}}}"
    )

    async def story(lab: Lab) -> None:
        given = {"files": {**FILES, "middle.yaml": middle}, "disable_rollback": True}
        if updates:
            await lab.create(wanted("0"), **given)
        begin = lab.begin_update if updates else lab.begin_create
        action = "UPDATE" if updates else "CREATE"
        await begin(wanted("1", value="1", lag=5, fail=action.lower()), **given)
        await lab.pass_time(10)
        stack = await lab.stack()
        assert await lab.status() == f"{action}_FAILED"
        assert await states(lab) == {"n": f"{action}_FAILED", "beside": f"{action}_FAILED"}
        [inner] = await lab.engine.ports.store.children(stack.id)
        [innermost] = await lab.engine.ports.store.children(inner.id)
        for below in inner, innermost:
            assert (below.status, below.reason) == (Status.FAILED, f"Stack {action} cancelled")
        await lab.engine.dispatch.idle()
        assert (await states(lab, innermost.id))["first"] == "CREATE_COMPLETE"
        second = {row.name: row for row in await lab.engine.ports.store.resources(innermost.id)}
        assert not updates or second["second"].properties["value"] == "0"
        assert updates or "second" not in second
        await lab.update(wanted("1"), **given)
        assert await lab.status() == "UPDATE_COMPLETE"

    in_lab(story)


@pytest.mark.parametrize("action", ["delete", "suspend"])
def test_nested_stack_beside_failure_completes_delete_or_suspend(action: str) -> None:
    async def story(lab: Lab) -> None:
        nested = {"type": "child.yaml", "properties": {"value": "1"}, "depends_on": "base"}
        beside = thing(fail=action)
        await lab.create(template({"base": thing(), "n": nested, "beside": beside}), files=FILES)
        [child] = await lab.engine.ports.store.children((await lab.stack()).id)
        if action == "suspend":
            await lab.act(action)
            resting = {"first": "SUSPEND_COMPLETE", "second": "SUSPEND_COMPLETE"}
            assert await states(lab, child.id) == resting
            assert (await states(lab))["n"] == "SUSPEND_COMPLETE"
        else:
            lab.cloud.undeletable.add((await lab.rows())["beside"].physical_id)
            await lab.delete()
            assert await states(lab) == {"beside": "DELETE_FAILED"}
        assert await lab.status() == f"{action.upper()}_FAILED"

    in_lab(story)


def test_cancel_of_nested_stack_fails_parent_operation() -> None:
    async def story(lab: Lab) -> None:
        wanted = template({"n": {"type": "child.yaml", "properties": {"value": "1"}}})
        request = StackRequest(name="stack", template=wanted, files=FILES)
        await lab.engine.operations.create(CALLER, request)
        await lab.pass_time(5)
        [child] = await lab.engine.ports.store.children((await lab.stack()).id)
        await lab.engine.operations.act(CALLER, child.address, "cancel_without_rollback")
        await lab.engine.dispatch.idle()
        assert await lab.status() == "CREATE_FAILED"
        assert (await lab.stack()).reason == (
            "Resource CREATE failed: resources.n: Stack CREATE cancelled"
        )

    in_lab(story)


@pytest.mark.parametrize("back", [True, False])
def test_nothing_else_can_be_cancelled(back: bool) -> None:
    async def story(lab: Lab) -> None:
        await lab.create(chain("1"))
        with pytest.raises(
            NotSupportedError, match="when stack is CREATE_COMPLETE is not supported"
        ):
            await cancel(lab, back=back)
        await lab.begin_update(chain("2", fixed="new", slow=20))
        await lab.pass_time(5)
        await cancel(lab)
        await lab.pass_time(1)
        with pytest.raises(NotSupportedError, match="when stack is UPDATE_FAILED is not supported"):
            await cancel(lab, back=back)
        address: StackAddress = (await lab.stack()).address
        await lab.engine.operations.delete(CALLER, address)
        with pytest.raises(NotSupportedError):
            await cancel(lab, back=back)
        await lab.engine.dispatch.idle()
        assert lab.cloud.objects == {}
        with pytest.raises(NotFoundError):
            await lab.engine.operations.find(CALLER, "stack")

    in_lab(story)


def test_cancel_spares_an_update_accepted_with_it() -> None:
    async def story(lab: Lab) -> None:
        await lab.create(chain("1"))
        await lab.begin_update(chain("2", lag=20))
        await lab.pass_time(5)
        newer = lab.begin_update(chain("3"))
        cancelled, updated = await asyncio.gather(cancel(lab), newer, return_exceptions=True)
        await lab.engine.dispatch.idle()
        assert updated is None
        assert cancelled is None or isinstance(cancelled, ActionInProgressError)
        assert await lab.status() == "UPDATE_COMPLETE"
        assert {row.properties["value"] for row in (await lab.rows()).values()} == {"3"}

    in_lab(story)


def test_cancel_of_unstarted_update_changes_nothing() -> None:
    async def story(lab: Lab) -> None:
        await lab.create(chain("1"))
        before = await lab.stack()
        # both are accepted before anybody drives the stack
        unheard = lab.unheard()
        await unheard.update(CALLER, before.address, StackRequest(template=chain("2")))
        await unheard.act(CALLER, before.address, "cancel_without_rollback")
        lab.engine.dispatch.wake(before.id)
        await lab.engine.dispatch.idle()
        stack = await lab.stack()
        assert (await lab.status(), stack.input_id) == ("UPDATE_FAILED", before.input_id)
        assert set((await states(lab)).values()) == {"CREATE_COMPLETE"}

    in_lab(story)
