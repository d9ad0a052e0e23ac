"""The parts of a document that the other format cannot express."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NoReturn

from msgspec import Struct

from stoker.kernel.diagnostics import Diagnostic, Path, Severity
from stoker.schema.words import kind_of


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


def list_in(parent: Mapping[str, Any], key: str, path: Path, losses: Losses) -> list[Any]:
    """Return a list in a map; other values are reported."""
    found = parent.get(key)
    if isinstance(found, list):
        return found
    if found is not None:
        losses.add((*path, key), f"this is a list, not {kind_of(found)}")
    return []


def maps_in(parent: Mapping[str, Any], key: str, losses: Losses) -> dict[str, Any]:
    """Return the entries of a section that are maps; others are reported."""
    section = map_in(parent, key, (), losses)
    return {name: map_in(section, name, (key,), losses) for name in section}


def map_in(parent: Mapping[str, Any], key: str, path: Path, losses: Losses) -> Mapping[str, Any]:
    """Return a map in a map; other values are reported."""
    found = parent.get(key)
    if isinstance(found, Mapping):
        return found
    if found is not None:
        losses.add((*path, key), f"this is a map, not {kind_of(found)}")
    return {}


def arguments_of(arguments: Any, least: int, most: int | None = None) -> list[Any]:
    """Return the arguments of a function. Raise :class:`InexpressibleError` for a wrong number."""
    if isinstance(arguments, list) and least <= len(arguments) <= (most or len(arguments)):
        return arguments
    numbers = str(least) if least == most else f"{least} or more"
    return refuse(f"the arguments are not a list of {numbers}")


def refuse(message: str) -> NoReturn:
    """Raise :class:`InexpressibleError`."""
    raise InexpressibleError(message)
