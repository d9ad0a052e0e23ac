"""Measurements of servers by the fabric process, for the cloud."""

import json
import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from msgspec.structs import asdict

from localcloud.fabric.process.file_jobs import LATER
from localcloud.fabric.process.machines import RunningServer
from localcloud.fabric.process.usage import of_processes

_PROC = Path("/proc")


class Measuring:
    """Answers with a file of all that runs. ``answer`` sends descriptors."""

    def __init__(
        self,
        servers: Mapping[str, RunningServer],
        answer: Callable[[dict[str, Any], list[int]], None],
    ) -> None:
        self._servers = servers
        self._answer = answer
        self.operations: dict[str, Callable[[dict[str, Any]], object]] = {"measure": self._measure}

    def _measure(self, request: dict[str, Any]) -> object:
        firsts = {key: _number_of(server.pidfd) for key, server in self._servers.items()}
        found = of_processes(firsts)
        report = {
            key: {**asdict(usage), "ports": _ports(self._servers[key], firsts[key])}
            for key, usage in found.items()
        }
        descriptor = os.memfd_create("usage")
        try:
            with open(descriptor, "wb", closefd=False) as file:
                file.write(json.dumps(report).encode())
            os.lseek(descriptor, 0, os.SEEK_SET)
            self._answer(request, [descriptor])
        finally:
            os.close(descriptor)
        return LATER


def _number_of(pidfd: int) -> int:
    """The number that a process has in this ``/proc``, which may be of another namespace."""
    lines = (_PROC / f"self/fdinfo/{pidfd}").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("Pid:"))


def _ports(server: RunningServer, first: int) -> dict[str, tuple[int, ...]]:
    """Return the traffic counters of each port."""
    with suppress(OSError):
        lines = (_PROC / str(first) / "net/dev").read_text().splitlines()
        return {
            server.ports[name].id: traffic
            for name, traffic in _counted(lines)
            if name in server.ports
        }
    return {}


def _counted(lines: Iterable[str]) -> Iterator[tuple[str, tuple[int, ...]]]:
    for line in lines:
        name, colon, numbers = line.partition(":")
        if colon:
            counted = [int(number) for number in numbers.split()]
            yield name.strip(), (counted[0], counted[1], counted[8], counted[9])
