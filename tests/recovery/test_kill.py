"""``kill -9`` at any moment, with real processes: nothing is lost, or made twice."""

from __future__ import annotations

import contextlib
import logging
import os
import random
import signal
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.recovery import inventory
from tests.recovery.service import Process, Service, server_processes, until

_LOG = logging.getLogger(__name__)
TEMPLATE = Path(__file__).parent / "stack.yaml"
EXAMPLE = Path(__file__).parents[2] / "examples/web-app.yaml"
KILLS = 10
FEW_KILLS = 3
MANY_KILLS = 60
LONGEST_LIFE = 0.3  # longest life in seconds before the service is killed
STARTING_SHARE = 0.2  # share of the kills that hit a service that is not ready yet
RESUME_SECONDS = 10.0
END_SECONDS = 60.0
ENVIRONMENT_SEED = "STOKER_KILL_SEED"


def seed() -> int:
    """The seed of this run; printed with a failure, and taken from the environment."""
    given = os.environ.get(ENVIRONMENT_SEED)
    chosen = int(given) if given else random.SystemRandom().randrange(1 << 32)
    _LOG.warning("seed: %s=%d", ENVIRONMENT_SEED, chosen)
    return chosen


@pytest.fixture
def service(tmp_path: Path) -> Iterator[Service]:
    running = Service(tmp_path / "data")
    running.start()
    yield running
    running.stop()
    _LOG.warning("the service: %s", running.log())
    for console in sorted((running.data_dir / "cloud/servers").glob("*/console.log")):
        _LOG.warning("%s: %s", console, console.read_text(errors="replace")[-2000:])


class Stack:
    """A stack of the test."""

    def __init__(self, service: Service, name: str, template: Path, script: str) -> None:
        self.service = service
        self.name = name
        self.template = template
        self.script = script

    def body(self, **parameters: Any) -> dict[str, Any]:
        return {
            "template": self.template.read_text(),
            "files": {self.script: (self.template.parent / self.script).read_text()},
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

    def act(self, action: str) -> None:
        stack = self.service.stack(self.name)
        assert stack is not None
        path = f"/stacks/{self.name}/{stack['id']}/actions"
        answer = self.service.request("POST", path, {action: None})
        assert answer.status_code == 200, answer.text

    def abandon(self) -> str:
        """Let the stack go without its objects; returns its document."""
        stack = self.service.stack(self.name)
        assert stack is not None
        answer = self.service.request("DELETE", f"/stacks/{self.name}/{stack['id']}/abandon")
        assert answer.status_code == 200, answer.text
        return answer.text

    def adopt(self, document: str) -> None:
        body = {"stack_name": self.name, "adopt_stack_data": document, "timeout_mins": 5}
        answer = self.service.request("POST", "/stacks", body)
        assert answer.status_code == 201, answer.text

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

    def page(self) -> str:
        """Return the page that the front server serves at its floating address."""
        [floating_ip] = [
            found
            for found in self.service.cloud("/network/v2.0/floatingips")["floatingips"]
            if found["id"] == self.ids()["floating_ip"]
        ]
        for forwarding in floating_ip["stoker:forwardings"]:
            url = f"http://{forwarding['host']}:{forwarding['port']}/"
            with contextlib.suppress(httpx.TransportError):
                return httpx.get(url, timeout=5).text.strip()
        return ""


class Scene:
    """A service, its stacks, and the earlier contents of the cloud."""

    def __init__(self, service: Service) -> None:
        self.service = service
        self.stacks: list[Stack] = []
        self.chance = random.Random(seed())
        self.kills = 0
        self.starts: list[float] = []  # seconds from each start until the service is ready
        # a project's own security group appears with the first read of the groups
        token, _ = service.authenticate()
        url = f"{service.cloud_url}/network/v2.0/security-groups"
        httpx.get(url, headers={"X-Auth-Token": token}, timeout=20).raise_for_status()
        self.before = inventory.take(service)

    def stack(self, template: Path = TEMPLATE, script: str = "setup.sh") -> Stack:
        """A stack of a new name."""
        self.stacks.append(Stack(self.service, f"s{len(self.stacks)}", template, script))
        return self.stacks[-1]

    def new(self) -> inventory.Inventory:
        """Return the objects that are new in the cloud."""
        return inventory.take(self.service).since(self.before)

    def kill(self, longest: float) -> None:
        """Kill at a random moment and restart immediately; return when the service is ready."""
        time.sleep(self.chance.uniform(0, longest))
        self.kills += 1
        self.service.kill()
        while self.chance.random() < STARTING_SHARE:
            self.service.launch()
            time.sleep(self.chance.uniform(0, 1.2))
            self.kills += 1
            self.service.kill()
        self.service.start()
        self.starts.append(time.monotonic() - self.service.started_at)

    def disturb(self, kills: int, over: Callable[[], bool]) -> None:
        """Kill repeatedly, at most this often, until the condition is met."""
        goal = self.kills + kills
        while self.kills < goal and not over():
            self.kill(LONGEST_LIFE)
        starts = [round(seconds, 2) for seconds in self.starts]
        _LOG.warning("%d kills; seconds to be ready: %s", self.kills, starts)

    def check(self) -> None:
        """Check that the cloud has each object of the stacks once, and that each works."""
        resources = [resource for stack in self.stacks for resource in stack.resources()]
        states = {r["resource_name"]: r["resource_status"] for r in resources}
        assert {state.split("_")[-1] for state in states.values()} == {"COMPLETE"}, states
        inventory.check(self.new(), resources, len(self.stacks))

    def check_gone(self, processes: list[Process]) -> None:
        """Nothing is left in the cloud, no process of a server lives, no disk is there."""
        until(lambda: not self.new().ids["trusts"], "the trust is removed behind the last stack")
        assert self.new().kinds() == {}
        until(lambda: not server_processes(self.service.data_dir), "no process of a server lives")
        until(lambda: not any(p.lives for p in processes), "all processes have ended")
        mounts = Path("/proc/self/mountinfo").read_text()
        assert str(self.service.data_dir) not in mounts
        disks = self.service.data_dir / "cloud/servers"
        assert not disks.exists() or not list(disks.iterdir())


@pytest.fixture
def scene(service: Service) -> Scene:
    return Scene(service)


def create_and_delete(scene: Scene, kills: int) -> None:
    """Create stacks until the service has been killed so often; compare; delete them all."""
    while scene.kills < kills:
        stack = scene.stack()
        stack.create()
        scene.disturb(kills - scene.kills, lambda s=stack: s.status() == "CREATE_COMPLETE")
    for stack in scene.stacks:
        stack.await_status("CREATE_COMPLETE")
    scene.check()
    for stack in scene.stacks:
        until(lambda s=stack: s.page() == "front: first", "the front server answers")
    processes = server_processes(scene.service.data_dir)
    assert processes
    for stack in scene.stacks:
        stack.delete()
    for stack in scene.stacks:
        stack.await_gone()
    scene.check_gone(processes)


@pytest.mark.long
def test_creates_complete_despite_kills(scene: Scene) -> None:
    create_and_delete(scene, FEW_KILLS)


@pytest.mark.long
@pytest.mark.parametrize("_turn", range(3))
def test_creates_complete_despite_many_kills(scene: Scene, _turn: int) -> None:
    create_and_delete(scene, MANY_KILLS)


def update_and_delete(scene: Scene, kills: int) -> None:
    """Update a stack, compare, delete it, and kill the service so often during each."""
    stack = scene.stack()
    stack.create(seconds=0)
    stack.await_status("CREATE_COMPLETE")
    before = stack.ids()
    stack.update(seconds=0, title="second", description="replaced servers")
    scene.disturb(kills, lambda: stack.status() == "UPDATE_COMPLETE")
    stack.await_status("UPDATE_COMPLETE")
    scene.check()
    after = stack.ids()
    changed = {name for name in after if after[name] != before[name]}
    assert changed == {"front_server", "back_server"}
    until(lambda: stack.page() == "front: second", "the new front server answers")
    processes = server_processes(scene.service.data_dir)
    stack.delete()
    scene.disturb(kills, lambda: stack.status() in (None, "DELETE_COMPLETE"))
    stack.await_gone()
    scene.check_gone(processes)


def test_updates_and_deletes_complete_despite_kills(scene: Scene) -> None:
    update_and_delete(scene, FEW_KILLS)


@pytest.mark.long
def test_updates_and_deletes_complete_despite_many_kills(scene: Scene) -> None:
    update_and_delete(scene, KILLS)


def suspend_and_resume(scene: Scene, kills: int) -> None:
    """Suspend, resume and check a stack, and kill the service so often during each."""
    stack = scene.stack()
    stack.create(seconds=0)
    stack.await_status("CREATE_COMPLETE")
    before = stack.ids()
    for action, servers in (("suspend", "SUSPENDED"), ("resume", "ACTIVE"), ("check", "ACTIVE")):
        state = f"{action.upper()}_COMPLETE"
        stack.act(action)
        scene.disturb(kills, lambda state=state: stack.status() == state)
        stack.await_status(state)
        scene.check()
        assert stack.ids() == before
        found = scene.service.cloud("/compute/v2.1/servers/detail?all_tenants=1")["servers"]
        assert [server["status"] for server in found] == [servers, servers]
    until(lambda: stack.page() == "front: first", "the front server answers")


@pytest.mark.long
def test_suspends_and_resumes_complete_despite_kills(scene: Scene) -> None:
    suspend_and_resume(scene, FEW_KILLS)


@pytest.mark.long
def test_suspends_and_resumes_complete_despite_many_kills(scene: Scene) -> None:
    suspend_and_resume(scene, KILLS)


@pytest.mark.long
def test_abandon_and_adopt_complete_despite_kills(scene: Scene) -> None:
    stack = scene.stack()
    stack.create(seconds=0)
    stack.await_status("CREATE_COMPLETE")
    before, objects = stack.ids(), scene.new().ids
    document = stack.abandon()
    scene.disturb(FEW_KILLS, lambda: stack.status() is None)
    stack.await_gone()
    stack.adopt(document)
    scene.disturb(FEW_KILLS, lambda: stack.status() == "ADOPT_COMPLETE")
    stack.await_status("ADOPT_COMPLETE")
    after, now = stack.ids(), scene.new().ids
    assert {kind: now[kind] for kind in inventory.COLLECTIONS} == {
        kind: objects[kind] for kind in inventory.COLLECTIONS
    }
    # each has a user of its own again, who calls back to the new stack
    renewed = {name for name in after if after[name] != before[name]}
    assert renewed == {"handle"}
    assert len(now["users"]) == len(objects["users"])
    until(lambda: stack.page() == "front: first", "the front server still answers")
    processes = server_processes(scene.service.data_dir)
    stack.delete()
    stack.await_gone()
    scene.check_gone(processes)


def test_example_serves_its_page_despite_kills(scene: Scene) -> None:
    stack = scene.stack(EXAMPLE, "web-app/setup.sh")
    stack.create(title="It lives")
    scene.disturb(FEW_KILLS, lambda: stack.status() == "CREATE_COMPLETE")
    stack.await_status("CREATE_COMPLETE")
    scene.kill(0)
    until(lambda: "It lives" in stack.page(), "the page is there again")


def test_service_stops_and_resumes_with_its_cloud(scene: Scene) -> None:
    stack = scene.stack()
    stack.create()
    for _ in range(2):
        time.sleep(scene.chance.uniform(0, 2 * LONGEST_LIFE))
        os.kill(scene.service.cloud_process().pid, signal.SIGKILL)
        assert scene.service.process is not None
        assert scene.service.process.wait(15) == 1
        assert "the local cloud stopped unexpectedly" in scene.service.log()
        scene.service.start()
    stack.await_status("CREATE_COMPLETE")
    scene.check()


def test_processes_end_with_service_and_resume_in_seconds(scene: Scene) -> None:
    stack = scene.stack()
    stack.create()
    until(lambda: bool(stack.ids().get("front_server")), "the servers begin")
    until(lambda: bool(server_processes(scene.service.data_dir)), "a server runs")
    children = scene.service.children()
    scene.service.kill()
    killed_at = time.monotonic()
    until(lambda: not any(child.lives for child in children), "all processes have ended", 5)
    _LOG.warning("all ended after %.2f s", time.monotonic() - killed_at)
    scene.service.start()
    until(lambda: bool(server_processes(scene.service.data_dir)), "a server runs", RESUME_SECONDS)
    resumed = time.monotonic() - scene.service.started_at
    _LOG.warning("a server runs again %.2f s after the start", resumed)
    assert resumed < RESUME_SECONDS
    stack.await_status("CREATE_COMPLETE")


def test_interrupted_user_data_runs_again_completed_does_not(scene: Scene) -> None:
    stack = scene.stack()
    stack.create(seconds=0.5)
    until(lambda: begun(scene.service) == 2, "user data runs in both servers")
    scene.service.kill()
    scene.service.start()
    stack.await_status("CREATE_COMPLETE")
    until(lambda: ended(scene.service) == 2, "user data has ended in both servers")
    assert begun(scene.service) == 4
    scene.service.kill()
    scene.service.start()
    until(lambda: len(server_processes(scene.service.data_dir)) >= 2, "the servers run again")
    time.sleep(0.5)
    assert (begun(scene.service), ended(scene.service)) == (4, 2)


def begun(service: Service) -> int:
    """Return how often user data has started in all servers."""
    return _guest_logs(service).count("begins")


def ended(service: Service) -> int:
    """Return how often user data has ended in all servers."""
    return _guest_logs(service).count("ends")


def _guest_logs(service: Service) -> str:
    disks = service.data_dir / "cloud/servers"
    return "".join(log.read_text() for log in disks.glob("*/disk/upper/root/srv/log"))
