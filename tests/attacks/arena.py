"""A service in a process of its own with limits, somebody who attacks it, and somebody who works.

    def test_an_attack(arena: Arena) -> None:
        with arena.attacked() as attacker:
            answer = attacker.ask("GET", "/stacks?limit=...")
        assert answer.status_code == 400

While the block runs, a user of another project asks for their stacks and lets templates be
validated, again and again. When it ends, the arena asserts that the service lives, that the other
user was answered all the time, that the event loop never paused, that memory stayed bounded, and
that nothing goes on computing.
"""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx

from stoker.kernel.values import replace
from tests.isolation.people import Person, demo, newcomer
from tests.recovery.service import Process, Service, descendants, until

MEBIBYTE = 1024 * 1024
ADDRESS_SPACE = 6 * 1024 * MEBIBYTE
"""Of every process of the service. Threads reserve much more than they use."""
CPU_SECONDS = 600
LONGEST_PAUSE = 0.05
"""Seconds. `make test-long` holds it, where no other test runs."""
_BESIDE_OTHERS = 3.0
"""Times as long may pauses be where tests run side by side: others take the core from the thread
that holds the interpreter, and the threads that do not hold it compute meanwhile."""
COMPUTING = 0.75
"""Of a pause, the part that the service computes for when it is the service that pauses."""
SLOWEST_ANSWER = 2.0
"""Seconds of any answer to somebody else, on a machine that is not busy."""
_LIMITED = (
    "import os, resource, sys;"
    f"resource.setrlimit(resource.RLIMIT_AS, ({ADDRESS_SPACE}, {ADDRESS_SPACE}));"
    f"resource.setrlimit(resource.RLIMIT_CPU, ({CPU_SECONDS}, {CPU_SECONDS}));"
    "os.execv(sys.argv[1], sys.argv[1:])"
)
_INNOCENT = {
    "heat_template_version": "2018-08-31",
    "parameters": {"p": {"type": "string", "default": "x"}},
    "resources": {
        "a": {"type": "OS::Heat::Value", "properties": {"value": {"get_param": "p"}}},
        "b": {"type": "OS::Heat::Value", "properties": {"value": {"get_attr": ["a", "value"]}}},
    },
}


class LimitedService(Service):
    """A service whose processes have limits of memory and time that the kernel holds."""

    def launch(self) -> None:
        """Start the process; returns at once."""
        command = [sys.executable, "-c", _LIMITED, str(Path(sys.executable).parent / "stoker")]
        command += ["serve", "--data-dir", str(self.data_dir)]
        command += ["--port", str(self.port), "--cloud-port", str(self.cloud_port)]
        with self.log_path.open("ab") as log:
            self.process = subprocess.Popen(
                command, stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True
            )
        self.started_at = time.monotonic()

    @property
    def pid(self) -> int:
        """Of the process that serves the API."""
        assert self.process is not None
        return self.process.pid

    def health(self) -> dict[str, Any]:
        """The figures of the service about itself."""
        accept = {"Accept": "application/json"}
        answer = httpx.get(f"{self.url}/healthcheck", headers=accept, timeout=60)
        found: dict[str, Any] = answer.json()
        return found

    def cloud_process(self) -> Process:
        """The local cloud."""
        own = [process for process in descendants(self.pid) if process.parent == self.pid]
        [cloud] = [process for process in own if "localcloud" in _command(process.pid)]
        return cloud

    def helpers(self) -> list[int]:
        """The processes in which the service computes what users wrote."""
        return [process.pid for process in self.helper_processes()]

    def helper_processes(self) -> list[Process]:
        """The same, told from later ones with the same numbers."""
        own = [process for process in descendants(self.pid) if process.parent == self.pid]
        return [process for process in own if "stoker.sandbox" in _command(process.pid)]


@dataclass
class Bystander:
    """Somebody of another project, who works while the service is attacked."""

    person: Person
    waits: list[float] = field(default_factory=list)
    faults: list[str] = field(default_factory=list)
    _over: threading.Event = field(default_factory=threading.Event)
    _thread: threading.Thread | None = None

    def once(self) -> float:
        """The seconds of the slower one of two requests."""
        body = {"template": _INNOCENT}
        listed = self._timed("GET", "/stacks", None)
        return max(listed, self._timed("POST", "/validate", body))

    def _timed(self, method: str, path: str, body: Any) -> float:
        begin = time.monotonic()
        try:
            answer = self.person.ask(method, path, body)
        except httpx.HTTPError as error:
            self.faults.append(f"{method} {path}: {error!r}")
        else:
            if answer.status_code != 200:
                self.faults.append(f"{method} {path}: {answer.status_code} {answer.text[:200]}")
        return time.monotonic() - begin

    def begin(self) -> None:
        def work() -> None:
            over = False
            while not over:
                self.waits.append(self.once())
                over = self._over.wait(0.1)

        self._thread = threading.Thread(target=work, daemon=True)
        self._thread.start()

    def end(self) -> None:
        self._over.set()
        if self._thread is not None:
            self._thread.join(120)


@dataclass
class Arena:
    """A service, an attacker, and somebody else."""

    service: LimitedService
    attacker: Person
    other: Person

    @classmethod
    def open(cls, directory: Path) -> Arena:
        """A service that has just been started."""
        service = LimitedService(directory / "data")
        service.start()
        arena = cls(service, demo(service), newcomer(service, "bystander"))
        Bystander(arena.other).once()  # what is loaded with the first request
        Bystander(arena.attacker).once()
        return arena

    @contextlib.contextmanager
    def attacked(
        self, *, mebibytes: float = 300, seconds: float = 60, pause: float = LONGEST_PAUSE
    ) -> Iterator[Person]:
        """Attack the service within the block; what is wrong with it fails the test afterwards.

        ``mebibytes`` may the service grow meanwhile; the block takes at most ``seconds``, and no
        pause of the event loop more than ``pause``.
        """
        service = self.service
        usual = min(Bystander(self.other).once() for _ in range(3))
        bystander = Bystander(self.other)
        _forget_peak(service.pid)
        before, begin = _memory(service.pid, "VmRSS"), time.time()
        bystander.begin()
        try:
            yield self.attacker
            took = time.time() - begin
        finally:
            bystander.end()
        self.assert_alive()
        assert took <= seconds, f"the attack took {took:.1f} s"
        assert bystander.faults == []
        assert bystander.waits, "somebody else's request has had no answer"
        worst = max(bystander.waits)
        limit = max(SLOWEST_ANSWER * _crowding(), 30 * usual)
        assert worst <= limit, f"others waited {worst:.1f} s"
        grown = _memory(service.pid, "VmHWM") - before
        assert grown <= mebibytes, f"the service grew by {grown:.0f} MiB"
        pauses = self.pauses_since(begin, pause)
        said = [line for line in service.log().splitlines() if "loop has paused" in line]
        assert not pauses, f"the event loop has paused: {pauses}; the log says {said[-3:]}"
        self.assert_calm()

    def pauses_since(self, begin: float, longest: float = LONGEST_PAUSE) -> list[dict[str, Any]]:
        """The pauses that were too long, by the time that the service has computed meanwhile.

        A machine that has other things to do makes a loop late which has nothing to do: then the
        service has computed for less of the pause than a thread that holds the loop up would have.
        Where more processes want to compute than there are cores, a loop that is not held up at
        all waits for its turn as often as the others do, so the limit grows with their number.
        """
        longest *= _crowding()
        found = self.service.health()["event_loop"]["latest_pauses"]
        return [
            pause
            for pause in found
            if pause["ended_at"] >= begin
            and min(pause["seconds"], pause["cpu_seconds"]) > longest
            and pause["cpu_seconds"] > COMPUTING * pause["seconds"]
        ]

    def assert_alive(self) -> None:
        """The process is there and answers."""
        process = self.service.process
        assert process is not None
        assert process.poll() is None, f"the service has ended:\n{self.service.log()[-3000:]}"
        assert self.service.health()["event_loop"]["longest_pause"] >= 0

    def assert_calm(self) -> None:
        """Nothing that the attack has begun goes on computing for long."""
        until(self._is_calm, "the service and its helpers have ended their work", 30)

    def _is_calm(self) -> bool:
        pids = [self.service.pid, *self.service.helpers()]
        before = sum(map(_cpu_seconds, pids))
        time.sleep(0.3)
        return sum(map(_cpu_seconds, pids)) - before < 0.15

    def restart(self, *, kill: bool = True) -> None:
        """End the service, by SIGKILL unless said otherwise, and start it again."""
        if kill:
            below = [self.service.cloud_process(), *self.service.helper_processes()]
            self.service.kill()
            until(lambda: not any(p.lives for p in below), "its helpers and its cloud have ended")
        else:
            self.service.stop()
        self.service.start()

    def close(self) -> None:
        """End the service."""
        self.service.stop()


def create(person: Person, name: str, template: Any, **fields: Any) -> httpx.Response:
    """The answer to the creation of a stack."""
    return person.ask("POST", "/stacks", {"stack_name": name, "template": template, **fields})


def state(person: Person, name: str) -> str:
    """The status of a stack by name."""
    answer = person.ask("GET", f"/stacks/{name}?resolve_outputs=false", follow_redirects=True)
    return str(answer.json()["stack"]["stack_status"])


def reason(person: Person, name: str) -> str:
    """Why a stack is in its status."""
    answer = person.ask("GET", f"/stacks/{name}?resolve_outputs=false", follow_redirects=True)
    return str(answer.json()["stack"]["stack_status_reason"])


def ended(person: Person, name: str, seconds: float = 60) -> str:
    """The final status of a stack's operation."""
    until(lambda: not state(person, name).endswith("IN_PROGRESS"), f"{name} has ended", seconds)
    return state(person, name)


def anonymous(person: Person) -> Person:
    """The same address without a token that is worth anything."""
    return replace(person, token="nothing")


def _command(pid: int) -> str:
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ").decode()
    except OSError:
        return ""


def _cpu_seconds(pid: int) -> float:
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return 0.0
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def _forget_peak(pid: int) -> None:
    Path(f"/proc/{pid}/clear_refs").write_text("5")


def _crowding() -> float:
    """The factor by which the machine may be slower because it has other work."""
    beside_others = (
        _BESIDE_OTHERS if int(os.environ.get("PYTEST_XDIST_WORKER_COUNT", 1)) > 1 else 1.0
    )
    return max(beside_others, os.getloadavg()[0] / (os.cpu_count() or 1))


def _memory(pid: int, name: str) -> float:
    """A figure of a process in MiB."""
    lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    line = next(line for line in lines if line.startswith(f"{name}:"))
    return int(line.split()[1]) / 1024
