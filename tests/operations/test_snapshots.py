"""Snapshots of stacks: their contents, their restore, and the removal of their images."""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from typing import Any

import pytest
from tests.engine_world import Lab, in_lab, template, thing
from tests.simulation.cloud import IMAGE
from tests.simulation.world import CALLER

from stoker.engine.model.views import SnapshotView
from stoker.kernel.errors import (
    ActionInProgressError,
    LimitExceededError,
    NotFoundError,
    NotSupportedError,
)
from stoker.kernel.values import replace

CHILD = """
heat_template_version: 2018-08-31
resources:
  inner:
    type: Sim::Disk
    properties: {value: deep}
"""


def disk(**more: Any) -> dict[str, Any]:
    properties = {key: more.pop(key) for key in ("value", "fixed", "slow") if key in more}
    return {"type": "Sim::Disk", "properties": properties, **more}


BOTH = template({"a": disk(value="x"), "b": thing(value="y")})


class Shots:
    """Snapshots of the lab's stack."""

    def __init__(self, lab: Lab) -> None:
        self.lab = lab
        self.service = lab.engine.service.snapshots

    async def address(self) -> Any:
        return await self.lab.engine.operations.find(CALLER, "stack")

    async def take(self, name: str | None = "one") -> str:
        taken = await self.service.create(CALLER, await self.address(), name)
        await self.lab.engine.dispatch.idle()
        return taken.id

    async def restore(self, snapshot: str) -> None:
        await self.service.restore(CALLER, await self.address(), snapshot)
        await self.lab.engine.dispatch.idle()

    async def delete(self, snapshot: str) -> None:
        await self.service.delete(CALLER, await self.address(), snapshot)
        await self.lab.engine.dispatch.idle()

    async def show(self, snapshot: str) -> SnapshotView:
        return await self.service.show(CALLER, await self.address(), snapshot)

    def contents(self) -> dict[str, str]:
        """Return the contents of the objects by resource name."""
        objects = self.lab.cloud.objects.values()
        return {found.name: found.content for found in objects if found.kind != IMAGE}

    def images(self) -> int:
        return sum(found.kind == IMAGE for found in self.lab.cloud.objects.values())


Story = Callable[[Lab, Shots], Coroutine[Any, Any, None]]


def told(story: Story) -> None:
    in_lab(lambda lab: story(lab, Shots(lab)))


def test_snapshot_shows_contents_of_each_resource() -> None:
    async def story(lab: Lab, shots: Shots) -> None:
        await lab.create(BOTH)
        shown = await shots.show(await shots.take())
        assert await lab.status() == "SNAPSHOT_COMPLETE"
        assert (shown.name, shown.status) == ("one", "COMPLETE")
        assert shown.reason == "Stack SNAPSHOT completed successfully"
        assert shown.data["template"] == BOTH
        assert (shown.data["action"], shown.data["status"]) == ("SNAPSHOT", "COMPLETE")
        rows = await lab.rows()
        held = shown.data["resources"]
        assert {name: entry["resource_id"] for name, entry in held.items()} == {
            name: row.physical_id for name, row in rows.items()
        }
        assert lab.cloud.objects[held["a"]["resource_data"]["image"]].kind == IMAGE
        assert held["b"]["resource_data"] == {}

    told(story)


def test_snapshot_records_events_of_every_resource() -> None:
    async def story(lab: Lab, shots: Shots) -> None:
        await lab.create(BOTH)
        await shots.take()
        told = await lab.history()
        assert {e for e in told if "SNAPSHOT" in e} == {
            f"{name} SNAPSHOT_{status}" for name in "ab" for status in ("IN_PROGRESS", "COMPLETE")
        }

    told(story)


def test_snapshot_in_progress_shows_no_resources() -> None:
    async def story(lab: Lab, shots: Shots) -> None:
        await lab.create(BOTH)
        begun = await shots.service.create(CALLER, await shots.address(), None)
        assert (begun.name, begun.status, begun.reason) == (None, "IN_PROGRESS", None)
        assert (begun.data["action"], begun.data["status"]) == ("CREATE", "COMPLETE")
        assert begun.data["resources"] == {}

    told(story)


def test_a_restore_brings_the_content_back() -> None:
    async def story(lab: Lab, shots: Shots) -> None:
        await lab.create(BOTH)
        lab.cloud.fill("precious")
        snapshot = await shots.take()
        before = await lab.rows()
        lab.cloud.fill("spoilt")
        await shots.restore(snapshot)
        assert await lab.status() == "RESTORE_COMPLETE"
        assert shots.contents() == {"a": "precious", "b": "spoilt"}
        assert {n: r.physical_id for n, r in before.items()} == {
            n: r.physical_id for n, r in (await lab.rows()).items()
        }

    told(story)


def test_snapshot_can_be_restored_repeatedly() -> None:
    async def story(lab: Lab, shots: Shots) -> None:
        await lab.create(BOTH)
        lab.cloud.fill("precious")
        snapshot = await shots.take()
        for _ in range(2):
            lab.cloud.fill("spoilt")
            await shots.restore(snapshot)
            assert shots.contents()["a"] == "precious"

    told(story)


def test_each_snapshot_has_contents_of_its_time() -> None:
    async def story(lab: Lab, shots: Shots) -> None:
        await lab.create(BOTH)
        taken = []
        for content in ("first", "second"):
            lab.cloud.fill(content)
            taken.append(await shots.take(content))
        assert shots.images() == 2
        for snapshot, content in zip(taken, ("first", "second"), strict=True):
            await shots.restore(snapshot)
            assert shots.contents()["a"] == content
        await shots.delete(taken[0])
        await shots.restore(taken[1])
        assert shots.contents()["a"] == "second"

    told(story)


def test_update_with_same_template_keeps_restored_contents() -> None:
    async def story(lab: Lab, shots: Shots) -> None:
        await lab.create(BOTH)
        lab.cloud.fill("precious")
        snapshot = await shots.take()
        await shots.restore(snapshot)
        await shots.delete(snapshot)
        await lab.update(BOTH)
        assert shots.contents()["a"] == "precious"

    told(story)


def test_restore_recreates_deleted_and_removes_added_resources() -> None:
    async def story(lab: Lab, shots: Shots) -> None:
        await lab.create(BOTH)
        lab.cloud.fill("precious")
        snapshot = await shots.take()
        await lab.update(template({"b": thing(value="changed"), "c": disk()}))
        await shots.restore(snapshot)
        assert await lab.status() == "RESTORE_COMPLETE"
        assert shots.contents() == {"a": "precious", "b": "precious"}
        rows = await lab.rows()
        assert rows["b"].properties["value"] == "y"
        assert rows["a"].properties["image"] is None, "the template's own properties"

    told(story)


def test_restore_replaces_resource_replaced_since() -> None:
    async def story(lab: Lab, shots: Shots) -> None:
        await lab.create(template({"a": disk(fixed="old")}))
        lab.cloud.fill("precious")
        snapshot = await shots.take()
        await lab.update(template({"a": disk(fixed="new")}))
        await shots.restore(snapshot)
        assert shots.contents() == {"a": "precious"}
        assert (await lab.rows())["a"].properties["fixed"] == "old"

    told(story)


def test_restore_recreates_nested_stacks() -> None:
    async def story(lab: Lab, shots: Shots) -> None:
        files = {"child.yaml": CHILD}
        nested = template({"nest": {"type": "child.yaml"}, "a": disk()})
        await lab.create(nested, files=files)
        lab.cloud.fill("precious")
        snapshot = await shots.take()
        held = (await shots.show(snapshot)).data["resources"]
        assert held["nest"]["resources"]["inner"]["status"] == "COMPLETE"
        lab.cloud.fill("spoilt")
        await shots.restore(snapshot)
        assert shots.contents() == {"inner": "precious", "a": "precious"}
        await lab.update(template({"a": disk()}))
        assert shots.contents() == {"a": "precious"}
        await shots.restore(snapshot)
        assert shots.contents() == {"inner": "precious", "a": "precious"}

    told(story)


@pytest.mark.parametrize("sizes", [(2, 4), (4, 2)])
def test_restore_brings_group_back_to_its_size(sizes: tuple[int, int]) -> None:
    def group(count: int) -> dict[str, Any]:
        properties = {"count": count, "resource_def": {"type": "Sim::Disk"}}
        return template({"group": {"type": "OS::Heat::ResourceGroup", "properties": properties}})

    async def story(lab: Lab, shots: Shots) -> None:
        before, after = sizes
        await lab.create(group(before))
        lab.cloud.fill("precious")
        snapshot = await shots.take()
        await lab.update(group(after))
        lab.cloud.fill("spoilt")
        await shots.restore(snapshot)
        assert shots.contents() == {str(number): "precious" for number in range(before)}

    told(story)


def test_restore_brings_scaled_group_back_to_its_size() -> None:
    member = {"type": "Sim::Disk", "properties": {}}
    sizes = {"min_size": 1, "max_size": 5, "desired_capacity": 1, "resource": member}
    group = {"type": "OS::Heat::AutoScalingGroup", "properties": sizes}
    adjustment = {
        "adjustment_type": "change_in_capacity",
        "scaling_adjustment": 1,
        "auto_scaling_group_id": {"get_resource": "group"},
    }
    policy = {"type": "Sim::Policy", "properties": adjustment}

    async def story(lab: Lab, shots: Shots) -> None:
        address = await lab.create(template({"group": group, "policy": policy}))

        async def scale() -> None:
            await lab.engine.signals.signal(CALLER, address, "policy", None)
            await lab.engine.dispatch.idle()

        await scale()
        lab.cloud.fill("precious")
        snapshot = await shots.take()
        before = shots.contents()
        assert len(before) == 2
        await scale()
        lab.cloud.fill("spoilt")
        await shots.restore(snapshot)
        assert shots.contents() == before

    told(story)


def test_a_deleted_snapshot_leaves_no_image() -> None:
    async def story(lab: Lab, shots: Shots) -> None:
        await lab.create(BOTH)
        snapshot = await shots.take()
        assert shots.images() == 1
        await shots.delete(snapshot)
        assert shots.images() == 0
        with pytest.raises(NotFoundError):
            await shots.show(snapshot)
        assert await lab.status() == "SNAPSHOT_COMPLETE"
        assert await shots.service.list(CALLER, await shots.address()) == []

    told(story)


def test_a_deleted_stack_leaves_no_image() -> None:
    async def story(lab: Lab, shots: Shots) -> None:
        await lab.create(BOTH)
        await shots.take()
        await shots.take()
        await lab.delete()
        assert lab.cloud.objects == {}

    told(story)


def test_abandon_keeps_images_and_deletes_snapshot_rows() -> None:
    async def story(lab: Lab, shots: Shots) -> None:
        address = await lab.create(BOTH)
        snapshot = await shots.take()
        await lab.engine.service.exports.abandon(CALLER, address)
        await lab.engine.dispatch.idle()
        assert sorted(shots.contents()) == ["a", "b"]
        assert shots.images() == 1
        assert await lab.engine.ports.store.snapshot(snapshot) is None
        assert await lab.engine.ports.store.snapshot_parts(snapshot) == []

    told(story)


def test_undeletable_image_keeps_snapshot_and_stack() -> None:
    async def story(lab: Lab, shots: Shots) -> None:
        await lab.create(BOTH)
        snapshot = await shots.take()
        image = next(o.id for o in lab.cloud.objects.values() if o.kind == IMAGE)
        lab.cloud.undeletable.add(image)
        await shots.delete(snapshot)
        shown = await shots.show(snapshot)
        assert shown.status == "FAILED"
        assert "a: RefusedError: the object is locked" in str(shown.reason)
        await lab.delete()
        assert await lab.status() == "DELETE_FAILED"
        lab.cloud.undeletable.clear()
        await lab.delete()
        assert lab.cloud.objects == {}

    told(story)


def test_failed_snapshot_keeps_stack_and_loses_its_images() -> None:
    async def story(lab: Lab, shots: Shots) -> None:
        gone = disk(depends_on="a")
        await lab.create(template({"a": disk(), "gone": gone}))
        lab.cloud.vanish("gone")
        snapshot = await shots.take()
        assert await lab.status() == "SNAPSHOT_FAILED"
        shown = await shots.show(snapshot)
        assert shown.status == "FAILED"
        assert "gone" in str(shown.reason)
        assert shots.images() == 1
        with pytest.raises(NotSupportedError, match="FAILED"):
            await shots.restore(snapshot)
        await shots.delete(snapshot)
        assert shots.images() == 0

    told(story)


def test_failed_snapshot_replaces_no_resource() -> None:
    async def story(lab: Lab, shots: Shots) -> None:
        await lab.create(BOTH)
        lab.cloud.down = (lab.world.time(), lab.world.time() + 4000)
        await shots.take()
        assert await lab.status() == "SNAPSHOT_FAILED"
        before = (await lab.rows())["a"].physical_id
        await lab.update(BOTH)
        assert await lab.status() == "UPDATE_COMPLETE"
        assert (await lab.rows())["a"].physical_id == before

    told(story)


def test_update_supersedes_snapshot_in_progress() -> None:
    async def story(lab: Lab, shots: Shots) -> None:
        await lab.create(BOTH)
        taken = await shots.service.create(CALLER, await shots.address(), None)
        with pytest.raises(NotSupportedError, match="in-progress"):
            await shots.service.delete(CALLER, await shots.address(), taken.id)
        await lab.pass_time(0.3)
        await lab.update(template({"a": disk(value="z")}))
        assert await lab.status() == "UPDATE_COMPLETE"
        assert (await shots.show(taken.id)).status == "FAILED"
        await shots.delete(taken.id)
        assert shots.images() == 0

    told(story)


def test_snapshot_of_busy_stack_is_refused() -> None:
    async def story(lab: Lab, shots: Shots) -> None:
        await lab.create(BOTH)
        snapshot = await shots.take()
        await lab.begin_update(template({"a": disk(value="z", slow=30)}))
        with pytest.raises(ActionInProgressError):
            await shots.take()
        with pytest.raises(ActionInProgressError):
            await shots.restore(snapshot)
        await lab.engine.dispatch.idle()

    told(story)


def test_snapshot_of_suspended_stack_is_refused() -> None:
    async def story(lab: Lab, shots: Shots) -> None:
        address = await lab.create(BOTH)
        await lab.engine.operations.act(CALLER, address, "suspend")
        await lab.engine.dispatch.idle()
        with pytest.raises(NotSupportedError, match="Resume"):
            await shots.take()

    told(story)


def test_snapshots_per_stack_are_limited() -> None:
    async def story(lab: Lab, shots: Shots) -> None:
        await lab.create(BOTH)
        most = lab.engine.ports.limits.snapshots_per_stack
        for _ in range(most):
            await shots.take()
        with pytest.raises(LimitExceededError, match=str(most)):
            await shots.take()
        admin = replace(CALLER, is_admin=True)
        await shots.service.create(admin, await shots.address(), None)
        await lab.engine.dispatch.idle()

    told(story)


def test_foreign_or_unknown_snapshot_is_not_found() -> None:
    async def story(lab: Lab, shots: Shots) -> None:
        await lab.create(BOTH)
        snapshot = await shots.take()
        address = await shots.address()
        stranger = replace(CALLER, project_id="other")
        for ask in (shots.service.show, shots.service.delete, shots.service.restore):
            with pytest.raises(NotFoundError):
                await ask(stranger, address, snapshot)
            with pytest.raises(NotFoundError):
                await ask(CALLER, address, "00000000-0000-0000-0000-000000000000")

    told(story)


def test_failed_restore_is_reported_and_repeatable() -> None:
    async def story(lab: Lab, shots: Shots) -> None:
        await lab.create(BOTH)
        lab.cloud.fill("precious")
        snapshot = await shots.take()
        lab.cloud.fill("spoilt")
        await lab.update(template({"b": thing(value="y")}))
        lab.cloud.quota = len(lab.cloud.objects)
        await shots.restore(snapshot)
        assert await lab.status() == "RESTORE_FAILED"
        lab.cloud.quota = None
        await shots.restore(snapshot)
        assert await lab.status() == "RESTORE_COMPLETE"
        assert shots.contents()["a"] == "precious"

    told(story)
