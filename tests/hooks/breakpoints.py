"""Helpers for tests of hooks: an environment with hooks, waiting for a pause, clearing it."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any

from stoker.engine.model.records import Event
from stoker.engine.model.requests import EventQuery, StackRequest
from stoker.kernel.addresses import StackAddress
from tests.engine_world import Lab
from tests.simulation.world import CALLER


def hooks(**of: Any) -> dict[str, Any]:
    """An environment with hooks by resource: words, or a map for a nested stack."""
    entries = {
        name: words if isinstance(words, Mapping) else {"hooks": words}
        for name, words in of.items()
    }
    return {"resource_registry": {"resources": entries}}


async def begin_create(lab: Lab, wanted: Mapping[str, Any], **request: Any) -> StackAddress:
    """Create the stack ``stack``, do not wait."""
    body = StackRequest(name="stack", template=wanted, **request)
    return await lab.engine.operations.create(CALLER, body)


async def begin_delete(lab: Lab) -> None:
    """Delete the stack, do not wait."""
    await lab.engine.operations.delete(CALLER, (await lab.stack()).address)


async def told(lab: Lab, stack_id: str | None = None) -> list[str]:
    """Return the events about hooks, as ``name STATUS reason``."""
    found = await events(lab, stack_id)
    return [
        f"{e.resource_name} {e.action}_{e.status} {e.reason}" for e in found if "Hook" in e.reason
    ]


async def events(lab: Lab, stack_id: str | None = None) -> list[Event]:
    """All events of a stack, also when it is deleted."""
    if stack_id is None:
        stack_id = (await lab.stack()).id
    return list(await lab.engine.ports.store.events([stack_id], EventQuery()))


async def standing(lab: Lab, address: StackAddress | None = None) -> dict[str, str]:
    """Return the resources that wait at hooks, and the hook, once all other activity has ended."""
    await asyncio.sleep(100)
    if address is None:
        address = (await lab.stack()).address
    rows = await lab.engine.ports.store.resources(address.id)
    return {row.name: row.hook["at"] for row in rows if row.hook.get("at")}


async def clear(lab: Lab, name: str, hook: Any, address: StackAddress | None = None) -> None:
    """Clear a hook as a user does."""
    if address is None:
        address = (await lab.stack()).address
    await lab.engine.signals.signal(CALLER, address, name, {"unset_hook": hook})


async def nested(lab: Lab, name: str) -> StackAddress:
    """The address of the nested stack of a resource."""
    row = (await lab.rows())[name]
    assert row.nested_id is not None
    child = await lab.engine.ports.store.stack(row.nested_id)
    assert child is not None
    return child.address


async def finish(lab: Lab) -> str:
    """Wait for the end; the status of the stack."""
    await lab.engine.dispatch.idle()
    return await lab.status()
