"""``kill -9`` at any moment, with real processes: the work goes on, nothing is lost or made twice."""

from __future__ import annotations

import os
import random
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.recovery import inventory
from tests.recovery.service import Process, Service, server_processes, until

HERE = Path(__file__).parent
KILLS = 20
STARTING_SHARE = 0.2
"""So many of the kills hit a service that is not ready yet."""
RESUME_SECONDS = 10.0
END_SECONDS = 60.0
ENVIRONMENT_SEED = "STOKER_KILL_SEED"


def seed() -> int:
    """The seed of this run; printed with a failure, and taken from the environment."""
    given = os.environ.get(ENVIRONMENT_SEED)
    chosen = int(given) if given else random.SystemRandom().randrange(1 << 32)
    print(f"seed: {ENVIRONMENT_SEED}={chosen}")
    return chosen


@pytest.fixture
def service(tmp_path: Path) -> Iterator[Service]:
    running = Service(tmp_path / "data")
    running.start()
    yield running
    running.stop()
    print(running.log())


class Stack:
    """The stack of the test, and what the cloud had before it."""

    def __init__(self, service: Service, name: str = "s") -> None:
        self.service = service
        self.name = name
        # a project's own security group appears with the first look at the groups
        token, _ = service.authenticate()
        url = f"{service.cloud_url}/network/v2.0/security-groups"
        httpx.get(url, headers={"X-Auth-Token": token}, timeout=20).raise_for_status()
        self.before = inventory.take(service)

    def body(self, **parameters: Any) -> dict[str, Any]:
        return {
            "template": (HERE / "stack.yaml").read_text(),
            "files": {"setup.sh": (HERE / "setup.sh").read_text()},
            "parameters": parameters,
            "timeout_mins": 5,
        }

    def create(self, **parameters: Any) -> None:
        body = {"stack_name": self.name, **self.body(**parameters)}
        answer = self.service.request("POST", "/stacks", body)
        assert answer.status_code == 201, answer.text

    def update(self, **parameters: Any) -> None:
        stack = self.service.stack(self.name)
        assert stack is not None
        path = f"/stacks/{self.name}/{stack['id']}"
        answer = self.service.request("PUT", path, self.body(**parameters))
        assert answer.status_code == 202, answer.text

    def delete(self) -> None:
        stack = self.service.stack(self.name)
        assert stack is not None
        answer = self.service.request("DELETE", f"/stacks/{self.name}/{stack['id']}")
        assert answer.status_code == 204, answer.text

    def status(self) -> str | None:
        stack = self.service.stack(self.name)
        return None if stack is None else stack["stack_status"]

    def resources(self) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = self.service.get(f"/stacks/{self.name}/resources")[
            "resources"
        ]
        return found

    def ids(self) -> dict[str, str]:
        return {r["resource_name"]: r["physical_resource_id"] for r in self.resources()}

    def await_status(self, wanted: str) -> None:
        """Wait for the end of the operation."""
        seen: list[str | None] = []

        def ended() -> bool:
            seen.append(self.status())
            return seen[-1] is not None and not seen[-1].endswith("_IN_PROGRESS")

        until(ended, f"{wanted}; the stack: {self.service.stack(self.name)}", END_SECONDS)
        assert seen[-1] == wanted, self.service.stack(self.name)

    def await_gone(self) -> None:
        def gone() -> bool:
            answer = self.service.request("GET", f"/stacks/{self.name}")
            if answer.status_code == 200:
                status = answer.json()["stack"]["stack_status"]
                assert status in ("DELETE_IN_PROGRESS", "DELETE_COMPLETE"), answer.text
                return status == "DELETE_COMPLETE"
            return answer.status_code == 404

        until(gone, "the stack is deleted", END_SECONDS)

    def check(self) -> None:
        """The cloud has what the stack's resources stand for, each once, and each works."""
        resources = self.resources()
        assert {r["resource_status"].split("_")[-1] for r in resources} == {"COMPLETE"}
        inventory.check(inventory.take(self.service).since(self.before), resources)

    def check_gone(self, processes: list[Process]) -> None:
        """Nothing is left in the cloud, no process of a server lives, no disk is there."""
        assert inventory.take(self.service).since(self.before).kinds() == {}
        until(lambda: not server_processes(self.service.data_dir), "no process of a server lives")
        until(lambda: not any(p.lives for p in processes), "all processes have ended")
        mounts = Path("/proc/self/mountinfo").read_text()
        assert str(self.service.data_dir) not in mounts
        disks = self.service.data_dir / "cloud/servers"
        assert not disks.exists() or not list(disks.iterdir())


class Killer:
    """Kills and restarts the service at random moments."""

    def __init__(self, service: Service, chance: random.Random) -> None:
        self._service = service
        self._chance = chance
        self.kills = 0
        self.starts: list[float] = []
        """Seconds from each start to the service's word that it is ready."""
        self.ends: list[float] = []
        """Seconds from each kill to the end of the last process below."""

    def once(self, longest: float, cut: Callable[[], None] | None = None) -> None:
        """Kill at a random moment, restart at once; returns when the service is ready again."""
        time.sleep(self._chance.uniform(0, longest))
        self.kill(cut)
        while self._chance.random() < STARTING_SHARE:
            self._service.launch()
            time.sleep(self._chance.uniform(0, 1.2))
            self.kill()
        self._service.start()
        self.starts.append(time.monotonic() - self._service.started_at)

    def kill(self, cut: Callable[[], None] | None = None) -> None:
        self.kills += 1
        (cut or self._service.kill)()

    def times(self, kills: int, longest: float, over: Callable[[], bool]) -> None:
        """Kill so many times, or until it is over."""
        goal = self.kills + kills
        while self.kills < goal and not over():
            self.once(longest)


def resumed(stack: Stack, events: int) -> bool:
    """Whether the operation has gone on: there are more events, or it has ended."""
    found = stack.service.get(f"/stacks/{stack.name}/events")["events"]
    return len(found) > events or not str(stack.status()).endswith("_IN_PROGRESS")


def test_a_create_completes_whenever_the_service_is_killed(service: Service) -> None:
    chance = random.Random(seed())
    stack = Stack(service)
    killer = Killer(service, chance)
    stack.create(seconds=0.4)
    killer.times(KILLS, 0.5, lambda: stack.status() == "CREATE_COMPLETE")
    print(f"{killer.kills} kills, {stack.status()}; starts: {killer.starts}")
    stack.await_status("CREATE_COMPLETE")
    stack.check()
    processes = service.children()
    own = [p for p in processes if p.root.startswith(str(service.data_dir))]
    stack.delete()
    stack.await_gone()
    stack.check_gone(own)
