"""Questions about values that only a cloud can answer; the caller asks them, many at a time."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from stoker.kernel.diagnostics import Path
from stoker.schema.properties import Finder


@dataclass(frozen=True, slots=True)
class CustomCheck:
    """A custom constraint that only a cloud can answer; evaluated by the caller, in parallel."""

    constraint: str
    value: Any
    path: Path


@dataclass(frozen=True, slots=True)
class NameLookup:
    """A property value that may be a name and must become an id before the type sees it."""

    finder: Finder
    value: str
    path: Path
    """Path inside the resource's properties."""
