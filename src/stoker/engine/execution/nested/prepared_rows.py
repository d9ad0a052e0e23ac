"""The rows of a stack as they are when a plan is made: moved, imported, and marked unhealthy.

An operation changes its rows in the same way. A preview works on a copy of the rows.
"""

from __future__ import annotations

from collections.abc import Mapping

from msgspec import Struct

from stoker.engine.execution.observe.importing import NOTHING_IMPORTED, Imported, add_imports
from stoker.engine.execution.observe.preparation import ask_beside
from stoker.engine.execution.session import StackRows
from stoker.engine.model.plans import NO_RELEASES, Releases
from stoker.engine.model.records import Resource
from stoker.engine.model.requests import StackRequest
from stoker.engine.planning.imports import NO_IMPORTS, require_releasable
from stoker.engine.planning.moves import NO_MOVES, moves_to
from stoker.kernel.values import replace
from stoker.template.evaluate.evaluation import Evaluation


class PreviewOptions(Struct, frozen=True):
    """Assumptions about the start of an update."""

    # Physical ids of objects that count as marked unhealthy.
    unhealthy: frozenset[str] = frozenset()
    converge: bool = False  # the update reads the live objects first
    # New names of resources of the stack itself, by old name, as the request lists them.
    moves: Mapping[str, str] = NO_MOVES
    # Ids of objects to import into the stack itself by resource, and whether they may be changed.
    import_objects: Mapping[str, str] = NO_IMPORTS
    change_imported: bool = False
    releases: Releases = NO_RELEASES

    @classmethod
    def of(cls, request: StackRequest, unhealthy: frozenset[str] = frozenset()) -> PreviewOptions:
        """Return the assumptions about the start of a requested update."""
        return cls(
            unhealthy=unhealthy,
            converge=request.converge,
            moves=request.moves,
            import_objects=request.import_objects,
            change_imported=request.change_imported,
            releases=Releases(request.keep_objects),
        )

    def below(self, name: str) -> PreviewOptions:
        """Return the assumptions about the nested stack of a resource."""
        return replace(
            self,
            moves=NO_MOVES,
            import_objects=NO_IMPORTS,
            releases=self.releases.below(name),
        )


NO_PREMISES = PreviewOptions()


class PreparedRows(Struct, frozen=True):
    """The rows of a stack for a plan, and their changes."""

    stack_rows: StackRows
    moves: Mapping[str, str]  # present names of moved resources, by new name
    imported: Imported = NOTHING_IMPORTED
    releases: Releases = NO_RELEASES

    @property
    def has_changes(self) -> bool:
        """Return whether a resource is moved or imported."""
        return bool(self.moves or self.imported.rows)


async def prepared_rows(
    stack_rows: StackRows, evaluation: Evaluation, premises: PreviewOptions
) -> PreparedRows:
    """Return a copy of the rows with moves, imports and marks.

    Raises DiagnosticError for a move, an import or a release that is impossible.
    """
    rows = [_marked(row, premises.unhealthy) for row in stack_rows.rows.values()]
    copy = StackRows(stack_rows.ports, stack_rows.stack, rows)
    copy.settled = stack_rows.settled
    moves = await copy.ports.workers.compute(
        lambda: moves_to(evaluation, copy.current, premises.moves)
    )
    await copy.rename(moves)
    require_releasable(premises.releases, evaluation, copy.current)
    requested, changes = premises.import_objects, premises.change_imported
    imported = await add_imports(copy, evaluation, ask_beside(copy), requested, changes=changes)
    names = {new: old for old, new in moves.items()}
    return PreparedRows(copy, names, imported, premises.releases)


def _marked(row: Resource, unhealthy: frozenset[str]) -> Resource:
    return replace(row, unhealthy=True) if row.physical_id in unhealthy else row
