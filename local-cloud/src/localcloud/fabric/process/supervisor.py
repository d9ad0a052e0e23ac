"""The first process of a server of plain processes: adopts its orphans, and ends them all.

Without a process namespace the kernel does not end a server's processes together. This process
does: it adopts the processes that its children leave, and when the pipe from the cloud ends,
however the cloud ended, it kills every process below it before it ends itself.
"""

import json
import os
import select
import signal
import sys
import time
from pathlib import Path

from localcloud.fabric.isolation import kernel
from localcloud.guest.cloud_init import plain
from localcloud.guest.cloud_init.instance import Instance

_GRACE_SECONDS = 2.0
_TICK_SECONDS = 0.5


def descendants(pid: int) -> list[int]:
    """All processes below one."""
    children: dict[int, list[int]] = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                fields = (entry / "stat").read_text().rpartition(")")[2].split()
            except OSError:
                continue
            children.setdefault(int(fields[1]), []).append(int(entry.name))
    found: list[int] = []
    frontier = [pid]
    while frontier:
        below = children.get(frontier.pop(), [])
        found += below
        frontier += below
    return found


def _signal_all(number: int) -> bool:
    below = descendants(os.getpid())
    for pid in below:
        try:
            os.kill(pid, number)
        except ProcessLookupError:
            continue
    return bool(below)


def _reap() -> None:
    try:
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass
    except ChildProcessError:
        return


def _end_all() -> None:
    deadline = time.monotonic() + _GRACE_SECONDS
    _signal_all(signal.SIGTERM)
    _signal_all(signal.SIGCONT)
    while descendants(os.getpid()) and time.monotonic() < deadline:
        _reap()
        time.sleep(0.01)
    while _signal_all(signal.SIGKILL):
        _reap()
        time.sleep(0.01)


def _supervise(instance: Instance, disk: Path, control: int) -> None:
    received: list[int] = []
    for number in (signal.SIGTERM, signal.SIGUSR1, signal.SIGUSR2):
        signal.signal(number, lambda number, _frame: received.append(number))
    plain.run_aside(lambda: plain.run(instance, disk))
    while True:
        try:
            ready, _, _ = select.select([control], [], [], _TICK_SECONDS)
        except InterruptedError:
            ready = []
        _reap()
        if ready or signal.SIGTERM in received:
            return
        for request in received:
            _signal_all(signal.SIGSTOP if request == signal.SIGUSR1 else signal.SIGCONT)
        received.clear()


def main() -> None:
    """Run a server; its specification is the first line of standard input."""
    spec = json.loads(sys.stdin.buffer.readline())
    disk = Path(spec.pop("disk"))
    control = os.dup(0)
    null = os.open("/dev/null", os.O_RDONLY)
    os.dup2(null, 0)
    os.chdir(disk)
    kernel.adopt_orphans()
    _supervise(Instance.read(spec), disk, control)
    _end_all()


if __name__ == "__main__":
    main()
