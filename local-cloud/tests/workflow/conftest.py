"""The workflow service; one for each module, since it starts processes for expressions."""

import asyncio
import json
import time
from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

import httpx
import pytest
import pytest_asyncio

from cloud_testing.caller import Caller
from cloud_testing.compute import HeldClock
from cloud_testing.doubles import ManualClock, StaticTokens
from localcloud.core.cloud import Cloud
from localcloud.core.settings import Settings
from localcloud.core.store import Store
from localcloud.fabric.interface import Fabric
from localcloud.process.app import CloudApp
from localcloud.workflow import instance
from localcloud.workflow.service import WorkflowService

PATIENCE = 30
ENDED = ("SUCCESS", "ERROR", "CANCELLED", "PAUSED")


class TurningClock(HeldClock):
    """A clock whose sleepers let others have their turn first."""

    async def sleep(self, seconds: float) -> None:
        await asyncio.sleep(0)
        await super().sleep(seconds)


@dataclass
class Workflows:
    """The service, and its users."""

    cloud: Cloud
    clock: TurningClock
    caller: Caller

    @property
    def service(self) -> instance.Workflows:
        return self.cloud.one(instance.Workflows)

    @property
    def is_loaded(self) -> bool:
        return instance.Workflows in self.cloud._instances

    async def define(self, text: str, expect: int = 201) -> Any:
        return await self.caller.call("POST", "/workflows", text, expect)

    async def start(self, name: str, expect: int = 201, **given: Any) -> Any:
        body = {"workflow_name": name, **{k: json.dumps(v) for k, v in given.items()}}
        return await self.caller.call("POST", "/executions", body, expect)

    async def until(self, path: str, *states: str) -> Any:
        """Return the object at a path, when it has reached one of these states."""
        deadline = time.monotonic() + PATIENCE
        while (found := await self.caller.get(path))["state"] not in states:
            assert time.monotonic() < deadline, found
            await asyncio.sleep(0.01)
        return found

    async def run(self, text: str, name: str = "", **given: Any) -> Any:
        """Define workflows, run one, and return its execution when it has stopped."""
        made = await self.define(text)
        begun = await self.start(name or made["workflows"][0]["name"], **given)
        return await self.until(f"/executions/{begun['id']}", *ENDED)

    async def tasks(self, execution: Any) -> dict[str, Any]:
        """The tasks of an execution by their names, with results."""
        listed = (await self.caller.get(f"/executions/{execution['id']}/tasks"))["tasks"]
        return {each["name"]: await self.caller.get(f"/tasks/{each['id']}") for each in listed}

    async def task(self, execution: Any, name: str, state: str) -> Any:
        """A task of an execution, when it is there in this state."""
        for _ in range(PATIENCE * 100):
            found = (await self.tasks(execution)).get(name)
            if found is not None and found["state"] == state:
                return found
            await asyncio.sleep(0.01)
        raise AssertionError(found)

    async def states(self, execution: Any, wanted: dict[str, str]) -> dict[str, str]:
        """Return the states of the tasks of an execution; a started one may end after it."""
        deadline = time.monotonic() + PATIENCE
        while True:
            found = {k: v["state"] for k, v in (await self.tasks(execution)).items()}
            if found == wanted or time.monotonic() > deadline:
                return found
            await asyncio.sleep(0.01)

    async def actions(self, task: Any) -> list[Any]:
        path = f"/tasks/{task['id']}/action_executions?include_output=true"
        return cast("list[Any]", (await self.caller.get(path))["action_executions"])


def cloud_in(directory: Path, clock: ManualClock) -> Cloud:
    settings = Settings(data_dir=directory)
    settings.cloud_dir.mkdir(exist_ok=True)
    store = Store(settings.cloud_dir / "cloud.sqlite")
    return Cloud(store, StaticTokens(), cast("Fabric", None), clock, settings)


async def running(directory: Path) -> AsyncIterator[Workflows]:
    """The service over a directory, until the end of the generator."""
    clock = TurningClock()
    cloud = cloud_in(directory, clock)
    service = WorkflowService(cloud)
    transport = httpx.ASGITransport(app=CloudApp(cloud, [service]))
    async with httpx.AsyncClient(transport=transport, base_url=cloud.settings.url) as client:
        await service.start()
        yield Workflows(cloud, clock, Caller(client, "/workflow/v2"))
        await service.stop()
    cloud.store.close()


@pytest.fixture
def running_cloud() -> Any:
    return running


@pytest_asyncio.fixture(loop_scope="module", scope="module")
async def workflows(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Workflows]:
    async for each in running(tmp_path_factory.mktemp("cloud")):
        yield each
