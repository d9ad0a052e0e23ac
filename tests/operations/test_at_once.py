"""Requests that come at the same time: each is done, or refused; none is dropped after a yes."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from tests.engine_world import Lab, in_lab, template, thing
from tests.simulation.world import CALLER, EngineLife

from stoker.engine.model.limits import Limits
from stoker.engine.model.requests import StackRequest
from stoker.kernel.errors import (
    ActionInProgressError,
    LimitExceededError,
    NotFoundError,
    NotSupportedError,
    RequestError,
)


@pytest.mark.parametrize("seed", range(12))
def test_concurrent_update_does_not_supersede_accepted_delete(seed: int) -> None:
    async def story(lab: Lab) -> None:
        address = await lab.create(template({"a": thing(value="0")}))
        stack = await lab.stack()
        acceptance = lab.as_seen(stack)
        wanted = {"a": thing(value="1"), "b": thing()}
        update = acceptance.update(CALLER, stack.address, StackRequest(template=template(wanted)))
        delete = acceptance.delete(CALLER, stack.address)
        done = await asyncio.gather(update, delete, return_exceptions=True)
        assert done[1] is None
        assert done[0] is None or isinstance(done[0], NotFoundError | NotSupportedError)
        await lab.engine.dispatch.idle()
        gone = await lab.engine.views.stack(CALLER, address)
        assert (gone.action, gone.status) == ("DELETE", "COMPLETE")
        assert lab.cloud.objects == {}

    in_lab(story, seed)


def test_update_evaluated_before_delete_is_refused() -> None:
    async def story(lab: Lab) -> None:
        await lab.create(template({"a": thing(slow=30)}))
        before = await lab.stack()
        acceptance = lab.as_seen(before)
        await acceptance.delete(CALLER, before.address)
        request = StackRequest(template=template({"a": thing(value="1")}))
        with pytest.raises(NotSupportedError):
            await acceptance.update(CALLER, before.address, request)
        await lab.engine.dispatch.idle()
        with pytest.raises(NotFoundError):
            await acceptance.update(CALLER, before.address, request)
        assert lab.cloud.objects == {}

    in_lab(story)


def test_repeated_concurrent_deletes_are_one_operation() -> None:
    async def story(lab: Lab) -> None:
        await lab.create(template({"a": thing(value="0")}))
        before = await lab.stack()
        acceptance = lab.as_seen(before)
        await asyncio.gather(*(acceptance.delete(CALLER, before.address) for _ in range(5)))
        assert len(await lab.engine.ports.store.queue(before.id)) == 1
        await lab.engine.dispatch.idle()

    in_lab(story)


def test_concurrent_creates_respect_stacks_per_project() -> None:
    async def story(lab: Lab) -> None:
        engine = EngineLife(lab.apart(limits=Limits(stacks_per_project=3)))
        wanted = template({"a": thing()})
        made = await asyncio.gather(
            *(
                engine.operations.create(CALLER, StackRequest(name=f"s{n}", template=wanted))
                for n in range(10)
            ),
            return_exceptions=True,
        )
        refused = [each for each in made if isinstance(each, BaseException)]
        assert len(refused) == 7
        assert all(isinstance(each, LimitExceededError) for each in refused)
        await engine.dispatch.idle()

    in_lab(story)


def test_recorded_request_of_disconnected_client_is_driven() -> None:
    async def story(lab: Lab) -> None:
        request = StackRequest(name="stack", template=template({"a": thing()}))
        asking = asyncio.ensure_future(lab.engine.operations.create(CALLER, request))
        store, recorded = lab.engine.ports.store, False
        while not recorded:
            await lab.pass_time(0)
            recorded = await store.find_stack(CALLER.project_id, "stack") is not None
            if asking.done():
                break
        asking.cancel()
        await asyncio.sleep(1)
        await lab.engine.dispatch.idle()
        assert await lab.status() == "CREATE_COMPLETE"

    in_lab(story)


HANDLE: dict[str, Any] = {"type": "Sim::Handle"}


@pytest.mark.parametrize("engines", [1, 2])
def test_concurrent_signals_without_id_count_once_each(engines: int) -> None:
    async def story(lab: Lab) -> None:
        address = await lab.create(template({"h": HANDLE}))
        others = [EngineLife(lab.apart()) for _ in range(engines - 1)]
        services = [lab.engine, *others]
        await asyncio.gather(
            *(
                services[number % engines].signals.signal(CALLER, address, "h", {})
                for number in range(60)
            )
        )
        stored = await lab.engine.ports.store.signals(address.id)
        assert sorted(int(signal.details["id"]) for signal in stored) == list(range(1, 61))

    in_lab(story)


def test_mark_beside_accepted_update_is_refused_or_first() -> None:
    async def story(lab: Lab) -> None:
        address = await lab.create(template({"a": thing(value="0")}))
        mark = lab.engine.operations.mark_unhealthy(
            CALLER, address, "a", unhealthy=True, reason="broken"
        )
        update = lab.begin_update(template({"a": thing(value="1")}))
        marked, updated = await asyncio.gather(mark, update, return_exceptions=True)
        assert updated is None
        await lab.engine.dispatch.idle()
        row = (await lab.rows())["a"]
        assert lab.cloud.objects[str(row.physical_id)].properties["value"] == "1"
        if marked is not None:
            assert isinstance(marked, ActionInProgressError | RequestError)
            assert not row.unhealthy

    in_lab(story)
