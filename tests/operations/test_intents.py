"""Rows and events written before an action, and those written with its result only."""

from __future__ import annotations

from typing import Any

from tests.engine_world import Lab, template, thing
from tests.simulation.types import Types
from tests.simulation.world import World

from stoker.engine.model.interfaces import Store
from stoker.engine.model.records import Resource
from stoker.engine.model.storage.changes import Change, OwnerChange, records_of
from stoker.resources.heat.test_resource import TestResource


class _Types(Types):
    def __init__(self) -> None:
        super().__init__()
        self._types["OS::Heat::TestResource"] = TestResource()


class Watched:
    """A store that remembers the resource rows that are committed."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self.written: list[str] = []

    def __getattr__(self, name: str) -> Any:
        return getattr(self._store, name)

    async def commit(self, change: Change) -> None:
        """Write, and remember."""
        await self._store.commit(change)
        if isinstance(change, OwnerChange):
            self.written += [
                f"{row.name} {row.action}_{row.status}" for row in records_of(change, Resource)
            ]
            self.written += [f"gone {key.id}" for key in change.drops if key.kind is Resource]


def watched(story: Any) -> Any:
    """Run ``async story(lab, store)`` where commits are watched."""
    stores: list[Watched] = []

    def watch(store: Store) -> Any:
        stores.append(Watched(store))
        return stores[-1]

    world = World(1, watch, _Types())
    world.cloud.trouble = 0.0
    return world.live(lambda engine: story(Lab(engine, world), stores[-1]))


def instant(**properties: Any) -> dict[str, Any]:
    return {"type": "OS::Heat::TestResource", "properties": properties}


def test_cloudless_resource_is_written_once_with_both_events() -> None:
    async def story(lab: Lab, store: Watched) -> tuple[list[str], list[str]]:
        await lab.create(template({"a": instant(value="x")}))
        told = await lab.history()
        await lab.delete()
        return store.written, told

    written, told = watched(story)
    assert [line.split()[0] for line in written] == ["a", "gone"]
    assert told == ["a CREATE_IN_PROGRESS", "a CREATE_COMPLETE"]


def test_cloud_resource_is_written_before_first_call() -> None:
    async def story(lab: Lab, store: Watched) -> list[str]:
        await lab.create(template({"a": thing()}))
        return store.written

    assert watched(story)[0] == "a CREATE_IN_PROGRESS"


def test_waiting_resource_is_written_in_progress() -> None:
    async def story(lab: Lab, store: Watched) -> list[str]:
        await lab.create(template({"a": instant(value="x", wait_secs=30)}))
        return store.written

    assert watched(story)[0] == "a CREATE_IN_PROGRESS"


def test_immediate_failure_has_both_events() -> None:
    async def story(lab: Lab, store: Watched) -> list[str]:
        await lab.create(template({"a": instant(fail=True)}))
        return await lab.history()

    assert watched(story) == ["a CREATE_IN_PROGRESS", "a CREATE_FAILED"]


def test_an_update_that_changes_nothing_writes_no_resource() -> None:
    async def story(lab: Lab, store: Watched) -> tuple[str, list[str]]:
        wanted = template({"a": instant(value="x"), "b": thing()})
        await lab.create(wanted)
        store.written.clear()
        await lab.update(wanted)
        return await lab.status(), store.written

    assert watched(story) == ("UPDATE_COMPLETE", [])
