"""Resource usage of the processes of servers, as the kernel counts it.

All counters grow while a server runs: the usage of a process is added to its parent's at its end.
"""

import json
import os
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from localcloud.fabric.interface import Traffic, Usage

_PROC = Path("/proc")
_TICK_NS = 1_000_000_000 // os.sysconf("SC_CLK_TCK")
_PAGE = os.sysconf("SC_PAGE_SIZE")


@dataclass
class _Process:
    """The fields of ``/proc/PID/stat`` that are used here."""

    parent: int
    ticks: int
    pages: int
    children: list[int] = field(default_factory=list)


def of_processes(firsts: Mapping[str, int]) -> dict[str, Usage]:
    """Return the usage of servers, by their ids, without their networks.

    ``firsts`` has the first process of each; all others of a server descend from it.
    """
    processes = _processes()
    return {
        server_id: _sum(processes, first)
        for server_id, first in firsts.items()
        if first in processes
    }


def reported(descriptor: int) -> dict[str, Usage]:
    """Return the measurements of the fabric process from its file, and close that."""
    with open(descriptor, "rb") as file:
        report = json.load(file)
    return {
        key: Usage(**{**usage, "ports": {port: Traffic(*n) for port, n in usage["ports"].items()}})
        for key, usage in report.items()
    }


def _processes() -> dict[int, _Process]:
    found: dict[int, _Process] = {}
    for entry in os.listdir(_PROC):  # noqa: PTH208 - a thousand objects of paths are made for nothing
        if entry.isdecimal():
            with suppress(OSError):  # it has ended
                found[int(entry)] = _read(entry)
    for number, process in found.items():
        if process.parent in found:
            found[process.parent].children.append(number)
    return found


def _read(process: str) -> _Process:
    # The name of the program is in brackets, and may contain anything.
    fields = (_PROC / process / "stat").read_text(errors="replace").rpartition(")")[2].split()
    ticks = sum(int(number) for number in fields[11:15])
    return _Process(int(fields[1]), ticks, int(fields[21]))


def _sum(processes: Mapping[int, _Process], first: int) -> Usage:
    members = list(_family(processes, first))
    disk = [_disk(number) for number in members]
    return Usage(
        cpu_ns=sum(processes[number].ticks for number in members) * _TICK_NS,
        memory_bytes=sum(processes[number].pages for number in members) * _PAGE,
        read_bytes=sum(read for read, _ in disk),
        written_bytes=sum(written for _, written in disk),
    )


def _family(processes: Mapping[int, _Process], first: int) -> Iterator[int]:
    left = [first]
    while left:
        number = left.pop()
        yield number
        left += processes[number].children


def _disk(process: int) -> tuple[int, int]:
    """Return the bytes that a process has read and written; 0 if unknown."""
    with suppress(OSError, ValueError, KeyError):
        lines = (_PROC / str(process) / "io").read_text().splitlines()
        counted = dict(line.split(": ") for line in lines)
        return int(counted["read_bytes"]), int(counted["write_bytes"])
    return 0, 0
