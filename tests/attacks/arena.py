"""A service in its own process with limits, an attacker, and another user.

    def test_an_attack(arena: Arena) -> None:
        with arena.attacked() as attacker:
            answer = attacker.ask("GET", "/stacks?limit=...")
        assert answer.status_code == 400

While the block runs, a user of another project lists their stacks and validates templates,
repeatedly. When it ends, the arena asserts that the service is alive, that the other user was
always answered, and that the event loop never paused. Memory must have stayed bounded, and no
computation may continue.
"""

from __future__ import annotations

import contextlib
import functools
import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx

from stoker.kernel.values import replace
from tests.isolation.people import Person, demo, newcomer
from tests.recovery.service import NO_CERTIFICATES, Process, Service, descendants, until

MEBIBYTE = 1024 * 1024
# Per process of the service. Threads reserve much more than they use.
ADDRESS_SPACE = 6 * 1024 * MEBIBYTE
CPU_SECONDS = 600
# Seconds, on the machine that _slowness() compares with. It applies fully in `make test-long` only,
# where no other test runs.
LONGEST_PAUSE = 0.05
# Pauses may be this many times longer where tests run side by side: other processes take the core
# from the thread that holds the interpreter, and the threads that do not hold it compute meanwhile.
_BESIDE_OTHERS = 3.0
COMPUTING = 0.75  # share of a pause that the service computes for if it is the cause
SLOWEST_ANSWER = 2.0  # seconds of any answer to another user, on a machine that is not busy
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
        """Start the process; return immediately."""
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
        """Return the id of the process that serves the API."""
        assert self.process is not None
        return self.process.pid

    def health(self) -> dict[str, Any]:
        """The figures of the service about itself."""
        accept = {"Accept": "application/json"}
        url = f"{self.url}/healthcheck"
        answer = httpx.get(url, headers=accept, timeout=60, verify=NO_CERTIFICATES)
        found: dict[str, Any] = answer.json()
        return found

    def cloud_process(self) -> Process:
        """The local cloud."""
        own = [process for process in descendants(self.pid) if process.parent == self.pid]
        [cloud] = [process for process in own if "localcloud" in _command(process.pid)]
        return cloud

    def helpers(self) -> list[int]:
        """Return the ids of the processes that evaluate texts of users."""
        return [process.pid for process in self.helper_processes()]

    def helper_processes(self) -> list[Process]:
        """Return these processes, distinguishable from later ones with the same ids."""
        own = [process for process in descendants(self.pid) if process.parent == self.pid]
        return [process for process in own if "stoker.sandbox" in _command(process.pid)]


@dataclass
class Bystander:
    """A user of another project, who works while the service is attacked."""

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
    """A service, an attacker, and another user."""

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
        """Attack the service within the block; afterwards, any damage fails the test.

        The service may grow by ``mebibytes``; the block takes at most ``seconds``, and each pause
        of the event loop at most ``pause``.
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
        """Return the pauses that were too long, by the CPU time of the service in them.

        A busy machine delays even an idle loop. Then the service has computed for a smaller part
        of the pause than a thread that blocks the loop would have. If more processes want to
        compute than there are cores, an unblocked loop waits for its turn as often as they do,
        so the limit grows with their number.
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
        """Check that computations of the attack end soon."""
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
    """Return the reason of a stack's status."""
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
    """Return how many times slower than the reference, and because of other work, we may be."""
    beside_others = (
        _BESIDE_OTHERS if int(os.environ.get("PYTEST_XDIST_WORKER_COUNT", 1)) > 1 else 1.0
    )
    return _slowness() * max(beside_others, os.getloadavg()[0] / (os.cpu_count() or 1))


@functools.cache
def _slowness() -> float:
    """Return how many times slower than a usual machine this one computes or gets memory.

    A virtual machine may take a millisecond for each new megabyte, which large values need.
    """

    def compute() -> None:
        total = 0
        for number in range(1_000_000):
            total += number

    def get_memory() -> None:
        bytes(bytearray(50 * MEBIBYTE))

    def seconds(work: Callable[[], None]) -> float:
        begin = time.thread_time()
        work()
        return time.thread_time() - begin

    usual = {compute: 0.06, get_memory: 0.03}
    return max(1.0, *(min(seconds(work) for _ in range(5)) / usual[work] for work in usual))


def _memory(pid: int, name: str) -> float:
    """A figure of a process in MiB."""
    lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    line = next(line for line in lines if line.startswith(f"{name}:"))
    return int(line.split()[1]) / 1024
