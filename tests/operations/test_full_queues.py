"""Steps that could start together wait until the store has room for their changes."""

from __future__ import annotations

import asyncio
from pathlib import Path

from bench.engine import CALLER, Bench

from stoker.engine.model.interfaces import Observer
from stoker.engine.model.requests import StackRequest
from stoker.engine.model.storage.changes import Change
from stoker.resources.base.registry import Registry
from stoker.store.write.room import MAX_WAITING

MEMBER = {"type": "OS::Heat::TestResource", "properties": {"value": "a"}}


class MostTasks(Observer):
    """The largest number of tasks at a commit."""

    def __init__(self) -> None:
        self.most = 0

    def committed(self, change: Change, *, certain: bool) -> None:
        """Count the tasks."""
        self.most = max(self.most, len(asyncio.all_tasks()))


async def test_independent_resources_start_as_room_allows(tmp_path: Path) -> None:
    engine, tasks = Bench(tmp_path, Registry()), MostTasks()
    engine.opened.store.observe(tasks)
    names = [f"r{number}" for number in range(3 * MAX_WAITING)]
    wanted = {"heat_template_version": "2021-04-16", "resources": dict.fromkeys(names, MEMBER)}
    try:
        request = StackRequest(name="large", template=wanted)
        address = await engine.operations.create(CALLER, request)
        await engine.dispatch.idle()
        await engine.check(address, "CREATE_COMPLETE")
        assert MAX_WAITING <= tasks.most < 1.5 * MAX_WAITING
        await engine.operations.delete(CALLER, address)
        await engine.dispatch.idle()
        await engine.check(address, "DELETE_COMPLETE")
        assert tasks.most < 1.5 * MAX_WAITING
    finally:
        await engine.dispatch.close()
        engine.opened.close()
