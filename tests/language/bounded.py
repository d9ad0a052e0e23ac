"""Runs work in a child process and measures its CPU seconds and its peak memory."""

from __future__ import annotations

import contextlib
import os
import pickle
import resource
import traceback
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

MEBIBYTE = 1024 * 1024
CPU_SECONDS = 10  # a child that takes longer is ended
ADDRESS_SPACE = 1024 * MEBIBYTE  # memory that a child may reserve beyond that at its start


@dataclass(frozen=True)
class Cost:
    """The cost of the work."""

    seconds: float
    mebibytes: float  # at the peak, beyond that of the process before
    result: Any = None
    error: str | None = None  # the traceback, or how the process ended, if the work had no result


def cost_of(work: Callable[[], Any]) -> Cost:
    """The cost of the work in a process of its own, whose result must be picklable."""
    reader, writer = os.pipe()
    child = os.fork()
    if not child:
        os.close(reader)
        _run(work, writer)
    os.close(writer)
    with os.fdopen(reader, "rb") as stream:
        answer = stream.read()
    _, status, usage = os.wait4(child, 0)
    if answer:
        cost: Cost = pickle.loads(answer)
        return cost
    seconds = usage.ru_utime + usage.ru_stime
    return Cost(seconds, usage.ru_maxrss / 1024, error=f"the process ended with status {status}")


def _run(work: Callable[[], Any], writer: int) -> None:
    result = error = None
    before = _memory("VmRSS")
    Path("/proc/self/clear_refs").write_text("5")
    resource.setrlimit(resource.RLIMIT_CPU, (CPU_SECONDS, CPU_SECONDS))
    limit = int(_memory("VmSize") * MEBIBYTE) + ADDRESS_SPACE
    resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
    begin = os.times()
    try:
        result = work()
    except BaseException:  # noqa: BLE001 - reported to the parent
        error = traceback.format_exc()[-4000:]
    end = os.times()
    seconds = end.user + end.system - begin.user - begin.system
    cost = Cost(seconds, _memory("VmHWM") - before, result, error)
    with contextlib.suppress(BaseException), os.fdopen(writer, "wb") as stream:
        pickle.dump(cost, stream)
    os._exit(0)


def _memory(name: str) -> float:
    """A figure of the process in MiB."""
    lines = Path("/proc/self/status").read_text().splitlines()
    line = next(line for line in lines if line.startswith(f"{name}:"))
    return int(line.split()[1]) / 1024
