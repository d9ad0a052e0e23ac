"""The parts of a document that the other format cannot express."""

from __future__ import annotations

from typing import Any, NoReturn

from msgspec import Struct

from stoker.kernel.diagnostics import Diagnostic, Path, Severity


class Converted(Struct, frozen=True):
    """A converted document, and warnings about parts of the original that it lacks."""

    data: dict[str, Any]
    losses: tuple[Diagnostic, ...]


class InexpressibleError(Exception):
    """A value cannot be expressed. The text says why."""


class Losses:
    """Collects parts that cannot be expressed."""

    def __init__(self) -> None:
        self.found: list[Diagnostic] = []

    def add(self, path: Path, message: str, advice: str | None = None) -> None:
        """Add a part that is left out, or that differs."""
        self.found.append(
            Diagnostic("not-converted", message, path, Severity.WARNING, suggestion=advice)
        )


def refuse(message: str) -> NoReturn:
    """Raise :class:`InexpressibleError`."""
    raise InexpressibleError(message)
