"""Exports: outputs that other stacks of a project use, by name.

An export cannot be changed or deleted while a stack imports it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Protocol

from stoker.engine.model.records import Record


class Export(Record, frozen=True):
    """A value that a stack exports."""

    project_id: str
    name: str  # unique in a project
    stack_id: str
    stack_name: str
    value: Any  # stored encrypted


class Exports(Record, frozen=True):
    """All exports of a stack; they replace the earlier ones."""

    stack_id: str
    exports: Sequence[Export]


class ExportReads(Protocol):
    """Reads of exports."""

    async def exports(
        self, project_id: str, names: Iterable[str] | None = None
    ) -> Sequence[Export]:
        """Return the exports of a project, or only those with these names, sorted by name."""

    async def importers(self, project_id: str, names: Iterable[str]) -> Mapping[str, list[str]]:
        """Return the names of the live stacks that use exports, by the name of the export."""
