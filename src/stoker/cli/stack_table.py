"""A table of stacks, as ``stoker list`` and ``stoker status`` print it."""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import Console

from stoker.cli.client.stacks import Stack
from stoker.cli.console.console import table, table_width

_TITLES = ("Stack", "State", "Created", "Updated", "Id")
_COLOURS = {"COMPLETE": "green", "FAILED": "red", "IN_PROGRESS": "yellow"}


def print_stacks(console: Console, stacks: Sequence[Stack]) -> None:
    """Print the stacks, one per line."""
    rows: list[Sequence[str]] = [
        (s.name, s.state, s.created, s.updated or "-", s.id) for s in stacks
    ]
    titles: Sequence[str] = _TITLES
    if console.is_terminal and table_width(titles, rows) > console.width:
        # The ids would break each line in two. Names do as well, and --json has the ids.
        rows, titles = [row[:-1] for row in rows], _TITLES[:-1]
    table(console, titles, rows, [_COLOURS.get(stack.status, "") for stack in stacks])
