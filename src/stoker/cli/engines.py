"""The engines of a data directory: there is one for as long as a service runs there."""

from __future__ import annotations

import socket
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

import click
import httpx

from stoker.cli.data_dir import Running, running_in

_COLUMNS = ("Hostname", "Binary", "Engine_Id", "Host", "Topic", "Updated At", "Status")
_PATIENCE = 5.0


@dataclass(frozen=True, slots=True)
class Engine:
    """A process of the service."""

    pid: int
    url: str
    up: bool


def engines_of(data_dir: Path) -> Sequence[Engine]:
    """The service of a data directory, if one runs."""
    running = running_in(data_dir)
    return [] if running is None else [Engine(running.pid, running.url, _answers(running))]


def _answers(running: Running) -> bool:
    try:
        answer = httpx.get(f"{running.url}/healthcheck", timeout=_PATIENCE, trust_env=False)
    except httpx.HTTPError:
        return False
    return answer.status_code in (200, 503)


def print_engines(engines: Sequence[Engine]) -> None:
    """A table, with the columns that scripts know from Heat."""
    host, now = socket.gethostname(), datetime.now(UTC).strftime("%Y-%m-%d %H:%M:%S")
    rows = [
        (host, "heat-engine", str(e.pid), e.url, "engine", now, "up" if e.up else "down")
        for e in engines
    ]
    widths = [max(map(len, column)) for column in zip(_COLUMNS, *rows, strict=True)]
    for row in (_COLUMNS, *rows):
        cells = (cell.ljust(width) for cell, width in zip(row, widths, strict=True))
        click.echo("  ".join(cells).rstrip())
