"""Exports: outputs that other stacks of a project use, by name.

As long as a stack imports one, it is neither changed nor deleted.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Protocol

from msgspec import Struct


class Export(Struct, frozen=True):
    """A value that a stack exports."""

    project_id: str
    name: str  # unique in a project
    stack_id: str
    stack_name: str
    value: Any
    """Kept encrypted."""


class ExportReads(Protocol):
    """Reads of exports."""

    async def exports(
        self, project_id: str, names: Iterable[str] | None = None
    ) -> Sequence[Export]:
        """The exports of a project, or those of these names, by name."""

    async def importers(self, project_id: str, names: Iterable[str]) -> Mapping[str, list[str]]:
        """The names of the live stacks that use exports, by the name of the export."""


class KeepsExports(Protocol):
    """A store with exports."""

    @property
    def exports(self) -> ExportReads:
        """Reads of exports."""


class ExportInside(Protocol):
    """Reads for guards; see :class:`stoker.engine.model.interfaces.TransactionReader`."""

    def exports(self, project_id: str) -> Mapping[str, Export]:
        """Return the exports of a project by name, locked against changes."""

    def importers(self, project_id: str, names: Iterable[str]) -> Mapping[str, list[str]]:
        """The names of the live stacks that use exports, by the name of the export."""
