"""Executions started by time and by events, across stops of the cloud."""

import asyncio
import json
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest

Open = Callable[[], Any]
TASKS = {"t": {"action": "std.noop"}}
NOOP = json.dumps({"version": "2.0", "w": {"input": [{"a": 1}], "tasks": TASKS}})


@pytest.fixture
def opened(tmp_path: Path, running_cloud: Any) -> Open:
    """The service over one directory, as often as it is opened."""

    @asynccontextmanager
    async def open_() -> AsyncIterator[Any]:
        async for each in running_cloud(tmp_path):
            each.clock.goes.clear()
            yield each

    return open_


async def cron(workflows: Any, expect: int = 201, **given: Any) -> Any:
    body = {"name": "c", "workflow_name": "w", **given}
    return await workflows.caller.call("POST", "/cron_triggers", body, expect)


async def begun(workflows: Any, count: int) -> list[Any]:
    """Return the executions, when this many exist and all have ended."""
    for _ in range(1000):
        found = (await workflows.caller.get("/executions"))["executions"]
        if len(found) >= count and all(each["state"] == "SUCCESS" for each in found):
            return list(found)
        await asyncio.sleep(0.01)
    raise AssertionError(found)


async def test_cron_trigger_starts_executions_until_used_up(
    opened: Open,
) -> None:
    async with opened() as workflows:
        await workflows.define(NOOP)
        made = await cron(
            workflows, pattern="*/5 * * * *", remaining_executions=2,
            workflow_input=json.dumps({"a": 2}),
        )  # fmt: skip
        assert made["next_execution_time"] == "2026-01-01 00:05:00"
        look = workflows.service.cron.fire_due
        look()
        assert await begun(workflows, 0) == []
        workflows.clock.advance(301)
        look()
        look()
        (run,) = await begun(workflows, 1)
        assert run["input"] == '{"a": 2}'
        assert run["description"] == "Workflow execution created by cron trigger 'c'."
        shown = await workflows.caller.get("/cron_triggers/c")
        assert shown["remaining_executions"] == 1
        assert shown["next_execution_time"] == "2026-01-01 00:10:00"
        workflows.clock.advance(1000)
        look()
        assert len(await begun(workflows, 2)) == 2
        await workflows.caller.call("GET", "/cron_triggers/c", expect=404)
        assert len(workflows.cloud.store.collection("identity.trust")) == 0


async def test_cron_trigger_survives_restart_with_one_missed_run(opened: Open) -> None:
    async with opened() as workflows:
        await workflows.define(NOOP)
        await cron(workflows, first_execution_time="2026-01-01 00:05", pattern="0 * * * *")
    async with opened() as workflows:
        workflows.clock.advance(3 * 3600 + 60)
        workflows.service.cron.fire_due()
        await begun(workflows, 1)
        shown = (await workflows.caller.get("/cron_triggers"))["cron_triggers"]
        assert [each["next_execution_time"] for each in shown] == ["2026-01-01 04:00:00"]
        await workflows.caller.call("DELETE", "/cron_triggers/c", expect=204)
        assert len(workflows.cloud.store.collection("identity.trust")) == 0


async def test_what_is_no_cron_trigger_is_refused(opened: Open) -> None:
    async with opened() as workflows:
        await workflows.define(NOOP)
        for given, reason in (
            ({}, "Pattern or first_execution_time must be specified."),
            ({"pattern": "x"}, "The specified pattern is not valid: x"),
            ({"first_execution_time": "x"}, "does not match format '%Y-%m-%d %H:%M'"),
            ({"first_execution_time": "2026-01-01 00:00"}, "at least 1 minute in the future."),
            (
                {"first_execution_time": "2027-01-01 00:00", "remaining_executions": 2},
                "Pattern must be provided if count is superior to 1.",
            ),
            ({"pattern": "* * * * *", "remaining_executions": 0}, "greater or equal to 1"),
            ({"pattern": "* * * * *", "workflow_input": {"z": 1}}, "unexpected=['z']"),
        ):
            refused = await cron(workflows, 400, **given)
            assert reason in refused["faultstring"]
        await cron(workflows, pattern="* * * * *")
        await cron(workflows, 409, pattern="* * * * *")
        refused = await workflows.caller.call("DELETE", "/workflows/w", expect=400)
        assert "Can't delete workflow that has cron triggers associated." in refused["faultstring"]


async def test_event_of_project_starts_execution(opened: Open) -> None:
    async with opened() as workflows:
        (made,) = (await workflows.define(NOOP))["workflows"]
        body = {
            "name": "e", "workflow_id": made["id"], "exchange": "nova", "topic": "notifications",
            "event": "compute.instance.create.end",
        }  # fmt: skip
        await workflows.caller.call("POST", "/event_triggers", {**body, "topic": "x"}, 400)
        await workflows.caller.call("POST", "/event_triggers", {**body, "event": ""}, 400)
        trigger = await workflows.caller.call("POST", "/event_triggers", body, 201)
        servers = workflows.cloud.store.collection("compute.server")
        for project in ("demo-project", "other-project"):
            server = {"id": str(uuid4()), "project_id": project, "name": "s"}
            servers.put({**server, "vm_state": "building"})
            servers.put({**server, "vm_state": "active"})
        (run,) = await begun(workflows, 1)
        params = json.loads(run["params"])["event_params"]
        assert (params["event_type"], params["project_id"]) == (body["event"], "demo-project")
        assert json.loads(run["description"])["triggered_by"]["name"] == "e"
        path = f"/event_triggers/{trigger['id']}"
        await workflows.caller.of("other").call("GET", path, expect=404)
        await workflows.caller.call("DELETE", path, expect=204)


async def test_executions_continue_after_restart(opened: Open) -> None:
    text = {
        "version": "2.0",
        "w": {
            "tasks": {
                "waits": {"action": "std.noop", "wait-before": 60, "on-success": ["last"]},
                "asked": {"action": "std.async_noop", "on-success": ["last"]},
                "lost": {"action": "std.sleep seconds=60", "on-error": ["last"]},
                "again": {
                    "action": "std.sleep seconds=60",
                    "safe-rerun": True,
                    "on-success": ["last"],
                },
                "last": {"action": "std.noop", "join": "all"},
            }
        },
    }
    async with opened() as workflows:
        await workflows.define(json.dumps(text))
        run = await workflows.start("w")
        wanted = {"waits": "DELAYED", "asked": "RUNNING", "lost": "RUNNING", "again": "RUNNING"}
        assert await workflows.states(run, wanted) == wanted
    async with opened() as workflows:
        workflows.clock.advance(3600)
        workflows.clock.goes.set()
        wanted = {"waits": "SUCCESS", "asked": "RUNNING", "lost": "ERROR", "again": "SUCCESS"}
        found = await workflows.states(run, {**wanted, "last": "WAITING"})
        assert found == {**wanted, "last": "WAITING"}
        tasks = await workflows.tasks(run)
        assert "The cloud was stopped while the action ran" in tasks["lost"]["state_info"]
        (action,) = await workflows.actions(tasks["asked"])
        path = f"/action_executions/{action['id']}"
        await workflows.caller.call("PUT", path, {"state": "SUCCESS"})
        await workflows.until(f"/executions/{run['id']}", "SUCCESS")


async def test_cloud_without_active_executions_loads_nothing(opened: Open) -> None:
    async with opened() as workflows:
        workflows.clock.goes.set()
        await workflows.run(NOOP)
    async with opened() as workflows:
        assert not workflows.is_loaded
        await workflows.caller.get("/executions")
        assert workflows.is_loaded
