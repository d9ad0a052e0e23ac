"""Places recorded resources into the trees of stacks that new templates describe.

In: recorded trees, the evaluated new templates of their root stacks, and the moves. Out: the stacks
of the new trees with their rows and inputs, as an update would have left them. A refactor changes
no object, so everything else that the templates would change is a fault, and so is a resource that
would be created or deleted. Nested stacks are created, and deleted when all their resources have
left.

Invariant: the planner finds no change in a placed stack. Nothing is written, and the cloud gets
only reads of attributes that the new templates use.

:mod:`stoker.engine.service.refactors.refactors` commits the result. Tested by tests/refactors and
the simulation.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from msgspec import Struct

from stoker.engine.execution.nested.idle_plan import recorded_definition
from stoker.engine.execution.observe.preparation import ask_beside, fresh_rows
from stoker.engine.execution.session import StackRows
from stoker.engine.model.interfaces import Ports
from stoker.engine.model.records import Input, Resource, Stack
from stoker.engine.planning.decision import settings_columns
from stoker.engine.service.refactors.movable import why_not_movable
from stoker.engine.service.refactors.nested_targets import nested_target, row_of_nested
from stoker.engine.service.refactors.remaining import (
    ADVICE,
    fault,
    in_template_of,
    remaining_changes,
)
from stoker.engine.service.stack_access.recorded_trees import Path, RecordedStack
from stoker.kernel.diagnostics import Diagnostic, DiagnosticError, Severity
from stoker.kernel.graph import dependencies_first
from stoker.kernel.values import replace
from stoker.schema.resource_type import NestingType
from stoker.template.definition import Definition
from stoker.template.evaluate.evaluation import Evaluation


class Move(Struct, frozen=True):
    """A resource that moves."""

    source: Path
    target: Path
    row: Resource  # as it was
    origin: Stack  # the stack that it leaves
    is_detected: bool = False  # neither the request nor a template names it


class PlacedStack(Struct, frozen=True):
    """A stack of a new tree."""

    path: Path
    stack: Stack
    before: RecordedStack | None  # None for a new stack
    input: Input
    evaluation: Evaluation
    stack_rows: StackRows
    nested: Mapping[str, PlacedStack]  # by resource, without unchanged ones

    def all(self) -> Iterator[PlacedStack]:
        """Yield this stack and all nested ones that may have changed."""
        yield self
        for below in self.nested.values():
            yield from below.all()


class Placement:
    """Places the resources of one refactor."""

    def __init__(self, ports: Ports, trees: Iterable[RecordedStack], moves: Iterable[Move]) -> None:
        self._ports = ports
        self._recorded = {each.stack.id: each for tree in trees for each in tree.all()}
        self._moves = {move.target: move for move in moves}
        self._leaving = {move.row.id for move in self._moves.values()}
        self.removed: list[tuple[Path, Resource, RecordedStack]] = []  # emptied nested stacks
        self._arrived: set[str] = set()  # ids of moved rows in their new stacks
        self._faults: list[Diagnostic] = []
        # Resources that the templates would create and delete, with their types.
        self._created: list[tuple[Path, str]] = []
        self._deleted: list[tuple[Path, str]] = []

    def raise_faults(self) -> None:
        """Raise DiagnosticError if the templates describe more than moves."""
        for move in self._moves.values():
            # A target in a nested template may have a condition that is false.
            if move.row.id not in self._arrived:
                message = f"the new templates have no resource {'/'.join(move.target)}"
                missing = fault(move.target[-1], message)
                self._faults += in_template_of(move.target[0], [missing])
        if self._faults:
            raise DiagnosticError([*self._faults, *self._forgotten()])

    @property
    def probable_moves(self) -> dict[Path, Path]:
        """Return the old paths of resources that probably move as well, by new path."""
        found = {}
        for target, type_name in self._created:
            same = [source for source, deleted in self._deleted if deleted == type_name]
            alike = [source for source in same if source[-1] == target[-1]] or same
            if len(alike) == 1:
                found[target] = alike[0]
        return found

    def _forgotten(self) -> Iterator[Diagnostic]:
        """Yield the moves that the request has probably forgotten."""
        for target, source in self.probable_moves.items():
            old, new = "/".join(source), "/".join(target)
            message = f"{old} and {new} may be the same resource"
            yield Diagnostic(
                "forgotten-move",
                message,
                severity=Severity.WARNING,
                suggestion=f"to move it, add the move {old}={new}",
            )

    async def place(
        self, stack: Stack, own: Input, evaluation: Evaluation, path: Path
    ) -> PlacedStack:
        """Place the resources of a stack and those nested in it."""
        ports, before = self._ports, self._recorded.get(stack.id)
        staying = () if before is None else before.rows
        rows = [row for row in staying if row.id not in self._leaving]
        rows += self._arriving(stack, path, evaluation)
        stack_rows = StackRows(ports, stack, rows)
        await self._read_missing(stack_rows, evaluation)
        nested: dict[str, PlacedStack] = {}
        faults: list[Diagnostic] = []
        for name in dependencies_first(evaluation.dependencies):
            definition = await recorded_definition(stack_rows, evaluation, name)
            row = stack_rows.current.get(name)
            if isinstance(definition.type, NestingType):
                used = evaluation.attributes_used.get(name, frozenset())
                placed, row = await self._nested(stack_rows, row, definition, used, own, path)
                if placed is not None:
                    nested[name] = placed
            elif row is None:
                self._created.append(((*path, name), definition.type_name))
                label = "/".join((*path[1:], name))
                faults.append(fault(name, f"{label} would be created", ADVICE))
                continue
            else:
                row = replace(row, **settings_columns(definition, stack_rows.current))
            stack_rows.rows[row.id] = stack_rows.current[name] = row
        faults += self._remove(stack_rows, evaluation, path)
        if not faults:
            faults = await remaining_changes(stack_rows, evaluation, path[1:])
        self._report(evaluation, path, faults)
        return PlacedStack(path, stack, before, own, evaluation, stack_rows, nested)

    def _arriving(self, stack: Stack, path: Path, evaluation: Evaluation) -> list[Resource]:
        """Return the rows of the resources that move into a stack."""
        found, faults = [], []
        for name in evaluation.names:
            move = self._moves.get((*path, name))
            if move is None:
                continue
            row, origin = move.row, dict(move.row.origin)
            self._arrived.add(row.id)
            inside = self._recorded.get(row.nested_id or "")
            if (why := why_not_movable(self._ports, row, inside, move.origin, stack)) is not None:
                faults.append(fault(name, f"{'/'.join(move.source)} cannot move: {why}"))
            if move.origin.id != stack.id:
                origin.setdefault("stack", move.origin.name)
            names = row.former_names
            if row.name != name:
                names = {**names, row.name: move.origin.input_id}
            found.append(
                replace(row, stack_id=stack.id, name=name, origin=origin, former_names=names)
            )
        self._report(evaluation, path, faults)
        return found

    async def _read_missing(self, stack_rows: StackRows, evaluation: Evaluation) -> None:
        """Read attributes that the new template uses and the old one did not."""
        used = evaluation.attributes_used
        missing = [
            row
            for name, row in stack_rows.current.items()
            if used.get(name, frozenset()) - row.attributes.keys()
        ]
        if missing:
            stack_rows.restore(await fresh_rows(stack_rows, missing, ask_beside(stack_rows)))

    async def _nested(
        self,
        stack_rows: StackRows,
        row: Resource | None,
        definition: Definition,
        used: frozenset[str],
        own: Input,
        path: Path,
    ) -> tuple[PlacedStack | None, Resource]:
        """Place a nested stack; return it, unless nothing changes in it, with its row."""
        recorded = None if row is None else self._recorded.get(row.nested_id or "")
        child = None if recorded is None else recorded.stack
        target = await nested_target(stack_rows, row, child, definition, used, own)
        path = (*path, target.row.name)
        if target.is_unchanged and not self._moves_below(path):
            return None, replace(target.row, **settings_columns(definition, stack_rows.current))
        placed = await self.place(target.stack, target.input, target.evaluation, path)
        return placed, await row_of_nested(stack_rows, target, definition, placed.stack_rows)

    def _moves_below(self, path: Path) -> bool:
        paths = [each for move in self._moves.values() for each in (move.source, move.target)]
        return any(each[: len(path)] == path for each in paths)

    def _remove(
        self, stack_rows: StackRows, evaluation: Evaluation, path: Path
    ) -> Iterator[Diagnostic]:
        """Remove nested stacks that are empty; yield the other resources that would be deleted."""
        names = evaluation.dependencies
        for row in list(stack_rows.rows.values()):
            if row.name in names and row.replaced_by is None:
                continue
            below = None if row.nested_id is None else self._recorded.get(row.nested_id)
            if below is not None and self._is_emptied(below):
                self.removed.append(((*path, row.name), row, self._without_leaving(below)))
                stack_rows.discard([row])
            else:
                self._deleted.append(((*path, row.name), row.type_name))
                label = "/".join((*path[1:], row.name))
                yield fault(row.name, f"{label} would be deleted", ADVICE)

    def _is_emptied(self, recorded: RecordedStack) -> bool:
        """Return whether all objects of a nested stack leave it."""
        return all(
            row.id in self._leaving
            or (row.id in recorded.nested and self._is_emptied(recorded.nested[row.id]))
            for row in recorded.rows
        )

    def _without_leaving(self, recorded: RecordedStack) -> RecordedStack:
        """Return a nested stack without the ones in it that move elsewhere."""
        staying = {
            row_id: self._without_leaving(below)
            for row_id, below in recorded.nested.items()
            if row_id not in self._leaving
        }
        return replace(recorded, nested=staying)

    def _report(self, evaluation: Evaluation, path: Path, faults: Sequence[Diagnostic]) -> None:
        if not faults:
            return
        located = evaluation.template.source.all_located(faults)
        self._faults += in_template_of(path[0], [replace(each, above=path[1:]) for each in located])
