"""Lines for people, as they are."""

from __future__ import annotations

from rich.console import Console


def say(console: Console, text: str, style: str = "") -> None:
    """Print a text; nothing in it is markup, and a terminal alone breaks its lines."""
    console.print(text, style=style, markup=False, highlight=False, soft_wrap=True)
