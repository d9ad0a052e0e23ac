"""Runs measurements as processes with a timeout, and prints the table of their results."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any


def print_json(figures: Mapping[str, float]) -> None:
    """Print the figures of a measurement for :func:`measured`."""
    print(json.dumps(dict(figures)))


@dataclass(frozen=True)
class Row:
    """One line of the table."""

    work: str
    figure: float | None
    target: float | None = None
    unit: str = "s"
    elsewhere: str = ""
    memory: float | None = None  # peak in MiB of the process that did the work
    memory_target: float | None = None

    def cells(self) -> tuple[str, ...]:
        """Return the cells of the line as text."""
        return (
            self.work,
            "failed" if self.figure is None else _number(self.figure, self.unit),
            "" if self.target is None else f"< {_number(self.target, self.unit)}",
            self._verdict(),
            self._memory(),
            self.elsewhere,
        )

    def _verdict(self) -> str:
        if self.figure is None:
            return "no"
        if self.target is None:
            return ""
        is_small = self.memory_target is None or (self.memory or 0) < self.memory_target
        return "yes" if self.figure < self.target and is_small else "no"

    def _memory(self) -> str:
        if self.memory is None:
            return ""
        limit = "" if self.memory_target is None else f" < {self.memory_target:,.0f}"
        return f"{self.memory:,.0f}{limit} MiB"


def _number(value: float, unit: str) -> str:
    if unit == "ms":
        return f"{value * 1000:,.0f} ms"
    if not unit:
        return f"{value:,.0f}"
    if unit == "MiB":
        return f"{value:,.0f} MiB"
    return f"{value:,.2f} s" if value < 10 else f"{value:,.1f} s"


HEADINGS = ("work", "measured", "target", "met", "memory", "known figures elsewhere")


def table(rows: Sequence[Row]) -> str:
    """Return all rows under headings, in columns."""
    cells = [HEADINGS, *(row.cells() for row in rows)]
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    lines = [
        "  ".join(
            text.ljust(width) if index in (0, 5) else text.rjust(width)
            for index, (text, width) in enumerate(zip(line, widths, strict=True))
        ).rstrip()
        for line in cells
    ]
    lines.insert(1, "  ".join("-" * width for width in widths))
    return "\n".join(lines)


def measured(seconds: float, module: str, *arguments: str) -> dict[str, Any]:
    """Return the figures of a measurement; empty if it failed or exceeded ``seconds``."""
    command = [sys.executable, "-m", f"bench.{module}", *arguments]
    what = " ".join(command[2:])
    print(f"... {what}", file=sys.stderr, flush=True)
    try:
        done = subprocess.run(
            command, stdout=subprocess.PIPE, text=True, timeout=seconds, check=True
        )
    except subprocess.TimeoutExpired:
        print(f"{what}: not within {seconds:.0f} s", file=sys.stderr)
        return {}
    except subprocess.CalledProcessError as error:
        print(f"{what}: exit code {error.returncode}", file=sys.stderr)
        return {}
    found: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return found
