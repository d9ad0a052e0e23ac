"""The engines of a shared database, or the single process of a data directory."""

from __future__ import annotations

import socket
import time
from collections.abc import Sequence
from datetime import UTC, datetime

import click
import httpx
from msgspec import Struct

from stoker.admin.database import Administration
from stoker.cli.arguments.data_dir import Running, running_in
from stoker.config.database import DatabaseSettings
from stoker.kernel.values import replace

# Columns that scripts know from Heat, in their order, and the process.
_COLUMNS = (
    "Hostname",
    "Binary",
    "Engine_Id",
    "Host",
    "Topic",
    "Process",
    "Updated At",
    "Status",
)
_PATIENCE = 5.0


class Engine(Struct, frozen=True):
    """A process that drives stacks."""

    id: str
    machine: str
    place: str  # its address, or else its name
    process: int
    reported_at: float
    up: bool


def engines_of(database: DatabaseSettings) -> Sequence[Engine]:
    """Return the engines of the database in the options, or of the service in the data directory.

    Without a shared database, return that service. Raise ValueError for an unusable database.
    """
    running, database = _find_database(database)
    found = [
        Engine(
            e.record.id, e.record.host, e.record.host, e.record.process, e.record.updated_at, e.up
        )
        for e in Administration(database).engines()
    ]
    if found or running is None or running.shares:
        return found
    name, up = socket.gethostname(), _answers(running)
    return [Engine(str(running.pid), name, running.url, running.pid, time.time(), up)]


def forget_dead_engines(database: DatabaseSettings) -> int:
    """Delete the records of engines that are down; return their number. Raise ValueError."""
    _, database = _find_database(database)
    return Administration(database).forget_dead_engines()


def _find_database(database: DatabaseSettings) -> tuple[Running | None, DatabaseSettings]:
    """Return the service of the data directory, with its database unless another one is named."""
    running = running_in(database.data_dir)
    if running is not None and running.shares and not database.url:
        database = replace(database, url=running.shares)
    return running, database


def _answers(running: Running) -> bool:
    try:
        answer = httpx.get(f"{running.url}/healthcheck", timeout=_PATIENCE, trust_env=False)
    except httpx.HTTPError:
        return False
    return answer.status_code in (200, 503)


def print_engines(engines: Sequence[Engine]) -> None:
    """Print a table with the columns that scripts know from Heat."""
    rows = [_row(engine) for engine in engines]
    widths = [max(map(len, column)) for column in zip(_COLUMNS, *rows, strict=True)]
    for row in (_COLUMNS, *rows):
        cells = (cell.ljust(width) for cell, width in zip(row, widths, strict=True))
        click.echo("  ".join(cells).rstrip())


def _row(engine: Engine) -> tuple[str, ...]:
    reported = datetime.fromtimestamp(engine.reported_at, UTC).strftime("%Y-%m-%d %H:%M:%S")
    return (
        engine.machine,
        "heat-engine",
        engine.id,
        engine.place,
        "engine",
        str(engine.process),
        reported,
        "up" if engine.up else "down",
    )
