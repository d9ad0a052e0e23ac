"""Prints text and tables for people, and JSON for programs."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import click
from rich.console import Console


def console_beside(*, as_json: bool) -> Console:
    """Return a console for progress: standard error if the standard output is JSON."""
    return Console(stderr=as_json)


def print_json(data: Any) -> None:
    """Print the result of a command with ``--json``: one document."""
    click.echo(json.dumps(data, indent=2))


def say(console: Console, text: str, style: str = "") -> None:
    """Print a text without markup; only the terminal wraps its lines."""
    console.print(text, style=style, markup=False, highlight=False, soft_wrap=True)


def table(
    console: Console,
    titles: Sequence[str],
    rows: Sequence[Sequence[str]],
    styles: Sequence[str] | None = None,
) -> None:
    """Print rows in columns below their titles; ``styles`` has a style for each row."""
    widths = _widths(titles, rows)
    say(console, _columns(titles, widths), "bold")
    for row, style in zip(rows, styles or [""] * len(rows), strict=True):
        say(console, _columns(row, widths), style)


def table_width(titles: Sequence[str], rows: Sequence[Sequence[str]]) -> int:
    """Return the number of terminal columns that a table needs."""
    return sum(_widths(titles, rows)) + 2 * (len(titles) - 1)


def _widths(titles: Sequence[str], rows: Sequence[Sequence[str]]) -> list[int]:
    return [max(map(len, column)) for column in zip(titles, *rows, strict=True)]


def _columns(cells: Sequence[str], widths: Sequence[int]) -> str:
    padded = (f"{cell:<{width}}" for cell, width in zip(cells, widths, strict=True))
    return "  ".join(padded).rstrip()
