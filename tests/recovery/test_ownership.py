"""One engine drives a stack: it is acquired once, and not passed back and forth."""

from __future__ import annotations

import asyncio
import itertools
import json

from stoker.engine.model.requests import StackRequest
from tests.engine_world import Lab, in_lab, template, thing
from tests.simulation.world import CALLER, EngineLife

GATE = {"type": "Sim::Gate", "properties": {"count": 1}}


def test_two_engines_do_not_alternate_on_a_stack() -> None:
    async def story(lab: Lab) -> None:
        other = EngineLife(lab.apart())
        body = StackRequest(name="stack", template=template({"gate": GATE}))
        address = await lab.engine.operations.create(CALLER, body)
        await lab.pass_time(5)
        await other.dispatch.recover()
        await lab.pass_time(25)
        assert (await lab.stack()).fencing_token == 2
        # this engine no longer drives the stack, and is notified of stacks that the other does not
        # drive
        await lab.engine.signals.signal(CALLER, address, "gate", {"number": 1})
        await asyncio.gather(lab.engine.dispatch.idle(), other.dispatch.idle())
        assert await lab.status() == "CREATE_COMPLETE"
        assert (await lab.stack()).fencing_token <= 4

    in_lab(story)


def test_stack_of_dead_engine_is_driven_again() -> None:
    async def story(lab: Lab) -> None:
        wanted = template({"a": thing(slow=100)})
        address = await lab.engine.operations.create(
            CALLER, StackRequest(name="stack", template=wanted)
        )
        await lab.pass_time(5)
        await lab.engine.ports.store.acquire(address.id)
        await lab.engine.dispatch.idle()
        assert await lab.status() == "CREATE_COMPLETE"

    in_lab(story)


def test_parent_reads_each_ended_nested_stack_once() -> None:
    """Each end costs the parent the same, however many others it waits for."""

    def reads(children: int) -> int:
        async def story(lab: Lab) -> int:
            count = itertools.count()
            store = lab.engine.ports.store
            for name in ("operation_status", "operations", "queue", "operation"):
                original = getattr(store, name)

                async def counted(key: str, original=original) -> object:
                    next(count)
                    return await original(key)

                setattr(store, name, counted)
            nested = {"type": "child.yaml", "properties": {}}
            child = {"heat_template_version": "2018-08-31", "resources": {"one": thing()}}
            wanted = template({f"n{number}": nested for number in range(children)})
            await lab.create(wanted, files={"child.yaml": json.dumps(child)})
            assert await lab.status() == "CREATE_COMPLETE"
            return next(count)

        return int(in_lab(story))

    few, many = reads(5), reads(40)
    assert many <= 9 * few
    assert many < 12 * 40
