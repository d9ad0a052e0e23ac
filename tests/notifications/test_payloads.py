"""Payloads on the message bus, in the form that consumers of Heat's notifications know."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from stoker.engine.model.records import Channel, Message
from stoker.store.store import SqlStore
from tests.engine_world import Lab, in_lab, template, thing
from tests.scaling.test_scaling import scaled, signal
from tests.simulation.world import CALLER

ONE = template({"a": thing()})


async def told(lab: Lab) -> list[Message]:
    """All notifications so far."""
    store = lab.engine.ports.store
    assert isinstance(store, SqlStore)
    return list(await store.outbox.waiting(Channel.BUS, 1000))


async def kinds(lab: Lab) -> list[str]:
    """Return their types without the common prefix."""
    return [each.body["event_type"].removeprefix("orchestration.") for each in await told(lab)]


def test_stack_actions_notify_start_and_end() -> None:
    async def story(lab: Lab) -> None:
        await lab.create(ONE)
        await lab.update(template({"a": thing(value="new")}))
        for action in ("suspend", "resume", "check"):
            await lab.act(action)
        address = await lab.engine.operations.find(CALLER, "stack")
        snapshots = lab.engine.service.snapshots
        taken = await snapshots.create(CALLER, address, "s")
        await lab.engine.dispatch.idle()
        await snapshots.restore(CALLER, address, taken.id)
        await lab.engine.dispatch.idle()
        await lab.delete()
        actions = [
            "create",
            "update",
            "suspend",
            "resume",
            "check",
            "snapshot",
            "restore",
            "delete",
        ]
        assert await kinds(lab) == [
            f"stack.{action}.{phase}" for action in actions for phase in ("start", "end")
        ]

    in_lab(story, notifies=True)


def test_notification_describes_stack_and_user() -> None:
    async def story(lab: Lab) -> None:
        await lab.create({**ONE, "description": "One thing"}, tags=("x", "y"))
        _, end = await told(lab)
        created = end.body["payload"]["create_at"]
        assert end.body["payload"] == {
            "tenant_id": "project",
            "user_id": "demo",
            "username": "demo",
            "user_identity": "user",
            "stack_identity": (await lab.stack()).id,
            "stack_name": "stack",
            "state": "CREATE_COMPLETE",
            "state_reason": "Stack CREATE completed successfully",
            "create_at": created,
            "updated_at": None,
            "deleted_at": None,
            "description": "One thing",
            "tags": ["x", "y"],
        }
        assert created.startswith("2027-01-15T")
        assert end.body["context"] == {
            "user_id": "user",
            "username": "demo",
            "tenant_id": "project",
            "project_id": "project",
        }
        assert end.body["priority"] is None

    in_lab(story, notifies=True)


def test_failure_notifies_error_and_rollback() -> None:
    async def story(lab: Lab) -> None:
        wanted = template({"a": thing(fail="create")})
        await lab.create(wanted, disable_rollback=False)
        begun, failed, *back = await told(lab)
        assert begun.body["event_type"].endswith("create.start")
        assert failed.body["event_type"].endswith("create.error")
        assert failed.body["priority"] == "ERROR"
        assert failed.body["payload"]["state"] == "CREATE_FAILED"
        assert "resources.a" in failed.body["payload"]["state_reason"]
        assert [each.body["payload"]["state"] for each in back] == [
            "ROLLBACK_IN_PROGRESS",
            "ROLLBACK_COMPLETE",
        ]

    in_lab(story, notifies=True)


def test_hidden_values_are_not_in_notifications() -> None:
    async def story(lab: Lab) -> None:
        wanted = template(
            {"a": thing(fail="create", value={"get_param": "p"})},
            parameters={"p": {"type": "string", "hidden": True}},
        )
        await lab.create(wanted, parameters={"p": "s3cret-word"})
        assert "s3cret-word" not in str([each.body for each in await told(lab)])

    in_lab(story, notifies=True)


async def resizings(lab: Lab) -> list[Mapping[str, Any]]:
    """The notifications of groups: phase, size and message."""
    return [
        {
            "phase": each.body["event_type"].rpartition(".")[2],
            "capacity": each.body["payload"]["capacity"],
            "message": each.body["payload"]["message"],
        }
        for each in await told(lab)
        if "autoscaling" in each.body["event_type"]
    ]


def test_resized_group_notifies_sizes_before_and_after() -> None:
    async def story(lab: Lab) -> None:
        await lab.create(scaled(2))
        await signal(lab)
        await lab.engine.dispatch.idle()
        group = str((await lab.rows())["g"].physical_id)
        [start, end] = [each for each in await told(lab) if "autosc" in each.body["event_type"]]
        name = start.body["payload"]["groupname"]
        assert name.endswith(f"/{group}"), "the reference of the group"
        assert start.body["payload"]["adjustment"] == 2
        assert start.body["payload"]["adjustment_type"] == "ChangeInCapacity"
        assert start.body["payload"]["state"] == "CREATE_COMPLETE"
        assert await resizings(lab) == [
            {"phase": "start", "capacity": 1, "message": f"Start resizing the group {name}"},
            {"phase": "end", "capacity": 3, "message": f"End resizing the group {name}"},
        ]
        assert end.id != start.id

    in_lab(story, notifies=True)


def test_ineffective_scaling_signal_notifies_suppressed() -> None:
    async def story(lab: Lab) -> None:
        await lab.create(scaled(1, policy={"cooldown": 600}))
        for _ in range(2):
            await signal(lab)
            await lab.engine.dispatch.idle()
        *_, last = await resizings(lab)
        assert last["phase"] == "suppressed"
        assert last["capacity"] == 2
        assert "cools down" in last["message"]

    in_lab(story, notifies=True)


def test_failed_resize_notifies_error() -> None:
    async def story(lab: Lab) -> None:
        await lab.create(scaled(1))
        lab.cloud.quota = len(lab.cloud.objects)
        await signal(lab)
        await lab.engine.dispatch.idle()
        start, error = await resizings(lab)
        assert (start["phase"], error["phase"]) == ("start", "error")

    in_lab(story, notifies=True)
