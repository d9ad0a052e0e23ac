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

from stoker.engine.execution.calls.build import address_of_nested
from stoker.engine.execution.nested.attributes import shown_by, with_shown
from stoker.engine.execution.nested.desired import desired_nested, input_from, nesting_call
from stoker.engine.execution.nested.ends import NestedFailedError
from stoker.engine.execution.nested.inputs import equal_inputs
from stoker.engine.execution.nested.nesting import nested_stack
from stoker.engine.execution.observe.preparation import ask_beside, call_about, fresh_rows
from stoker.engine.execution.session import StackRows
from stoker.engine.model.interfaces import Ports
from stoker.engine.model.plans import Change, Node, Reason, Step, defined
from stoker.engine.model.records import Action, Input, Resource, Stack, Status, is_nested
from stoker.engine.planning.decision import row_columns, settings_columns
from stoker.engine.planning.evaluations import Documents, evaluation_of
from stoker.engine.planning.facts import RecordedFacts
from stoker.engine.planning.planner import Planner
from stoker.engine.service.refactors.movable import why_not_movable
from stoker.engine.service.refactors.trees import Path, RecordedStack
from stoker.kernel.diagnostics import Diagnostic, DiagnosticError, Severity
from stoker.kernel.graph import dependencies_first
from stoker.kernel.values import replace
from stoker.schema.resource_type import NestingType, ScalableType
from stoker.template.definition import Definition
from stoker.template.evaluate.evaluation import Evaluation

_CODE = "impossible-refactor"
_ADVICE = "a refactor only moves resources: deploy other changes before it or after it"


class Move(Struct, frozen=True):
    """A resource that moves."""

    source: Path
    target: Path
    row: Resource  # as it was
    origin: Stack  # the stack that it leaves


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
        self._faults: list[Diagnostic] = []
        # Resources that the templates would create and delete, with their types.
        self._created: list[tuple[Path, str]] = []
        self._deleted: list[tuple[Path, str]] = []

    def raise_faults(self) -> None:
        """Raise DiagnosticError if the templates describe more than moves."""
        if self._faults:
            raise DiagnosticError([*self._faults, *self._forgotten()])

    def _forgotten(self) -> Iterator[Diagnostic]:
        """Yield the moves that the request has probably forgotten."""
        for target, type_name in self._created:
            same = [source for source, deleted in self._deleted if deleted == type_name]
            alike = [source for source in same if source[-1] == target[-1]] or same
            if len(alike) == 1:
                old, new = "/".join(alike[0]), "/".join(target)
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
            facts = RecordedFacts(stack_rows.current, stack_rows.reference_of)
            definition = await ports.workers.compute(lambda: defined(evaluation, name, facts))  # noqa: B023 - called at once
            row = stack_rows.current.get(name)
            if isinstance(definition.type, NestingType):
                used = evaluation.attributes_used.get(name, frozenset())
                placed, row = await self._nested(stack_rows, row, definition, used, own, path)
                if placed is not None:
                    nested[name] = placed
            elif row is None:
                self._created.append(((*path, name), definition.type_name))
                faults.append(_fault(name, f"{name} would be created", _ADVICE))
                continue
            else:
                row = replace(row, **settings_columns(definition, stack_rows.current))
            stack_rows.rows[row.id] = stack_rows.current[name] = row
        faults += self._remove(stack_rows, evaluation, path)
        if not faults:
            faults = await self._changes(stack_rows, evaluation)
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
            if (why := why_not_movable(self._ports, row, move.origin, stack)) is not None:
                faults.append(_fault(name, f"{'/'.join(move.source)} cannot move: {why}"))
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
        ports, type_ = self._ports, definition.type
        is_new = row is None
        if row is None:
            row = _new_row(stack_rows, definition)
        recorded = None if row.nested_id is None else self._recorded.get(row.nested_id)
        child = None if recorded is None else recorded.stack
        child_id = ports.ids.uuid() if child is None else child.id
        address = address_of_nested(stack_rows, row, child_id) if child is None else child.address
        try:
            nested = await desired_nested(stack_rows, row, definition, used, child, address.arn)
            child_input = await input_from(stack_rows, own, child_id, definition, nested)
        except NestedFailedError as failed:
            raise DiagnosticError([_fault(row.name, str(failed))]) from failed
        now = nested_stack(stack_rows, row, child_id, child_input.id)
        if child is not None:
            place = {
                name: getattr(now, name)
                for name in (
                    "parent_id",
                    "parent_resource",
                    "parent_resource_id",
                    "root_id",
                    "depth",
                )
            }
            now = replace(child, **place)
            before = await ports.store.input(child.input_id)
            if await ports.workers.compute(lambda: equal_inputs(before, child_input)):
                if now == child and not self._moves_below((*path, row.name)):
                    return None, replace(row, **settings_columns(definition, stack_rows.current))
                child_input = before

        def evaluate() -> Evaluation:
            inner = evaluation_of(ports, now, child_input, Documents.of(child_input))
            _ = inner.attributes_used  # compute it on this thread, not later on the event loop
            return inner

        inner = await ports.workers.compute(evaluate)
        placed = await self.place(now, child_input, inner, (*path, row.name))
        row = replace(
            row,
            nested_id=child_id,
            physical_id=child_id,
            data=row.data if nested.data is None else nested.data,
            **row_columns(definition, stack_rows.current),
        )
        if is_new and isinstance(type_, ScalableType):
            row = replace(row, data=type_.settled(nesting_call(stack_rows, row), None))
        current = placed.stack_rows.current
        facts = RecordedFacts(current, stack_rows.reference_of)
        known = stack_rows.type_of(row)
        shown = await ports.workers.compute(
            lambda: shown_by(inner.outputs(facts), current, stack_rows.reference_of, known)
        )
        return placed, with_shown(row, shown, address.arn)

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
                self.removed.append(((*path, row.name), row, below))
                stack_rows.discard([row])
            else:
                self._deleted.append(((*path, row.name), row.type_name))
                yield _fault(row.name, f"{row.name} would be deleted", _ADVICE)

    def _is_emptied(self, recorded: RecordedStack) -> bool:
        """Return whether all objects of a nested stack leave it."""
        return all(
            row.id in self._leaving
            or (row.id in recorded.nested and self._is_emptied(recorded.nested[row.id]))
            for row in recorded.rows
        )

    async def _changes(self, stack_rows: StackRows, evaluation: Evaluation) -> list[Diagnostic]:
        """Return the changes that the templates would make to placed resources."""
        rows = tuple(stack_rows.rows.values())
        to_be = {row.name: row for row in rows if is_nested(row)}
        planner = Planner(rows, stack_rows.reference_of, call_about(stack_rows), to_be=to_be)
        try:
            plan = await self._ports.workers.compute(lambda: planner.plan(evaluation))
        except DiagnosticError as refused:
            return list(refused.diagnostics)
        return [_change(node) for node in plan.nodes(Step.APPLY) if not _is_same(node, to_be)]

    def _report(self, evaluation: Evaluation, path: Path, faults: Sequence[Diagnostic]) -> None:
        if not faults:
            return
        located = evaluation.template.source.all_located(faults)
        self._faults += in_template_of(path[0], [replace(each, above=path[1:]) for each in located])


def in_template_of(stack_name: str, found: Iterable[Diagnostic]) -> list[Diagnostic]:
    """Return diagnostics with the name of their stack for its template, which has no other name."""
    return [replace(each, file=each.file or stack_name) for each in found]


def _new_row(stack_rows: StackRows, definition: Definition) -> Resource:
    """Return the row of a resource with a new nested stack."""
    ids, now = stack_rows.ports.ids, stack_rows.ports.clock.now()
    return Resource(
        id=ids.uuid(),
        stack_id=stack_rows.stack.id,
        name=definition.name,
        token=ids.token(),
        created_at=now,
        updated_at=now,
        action=Action.CREATE,
        status=Status.COMPLETE,
        reason="state changed",
        **row_columns(definition, stack_rows.current),
    )


def _is_same(node: Node, nested: Mapping[str, Resource]) -> bool:
    if node.change in (Change.KEEP, Change.PAUSE):
        return True
    return (node.change, node.reason) == (Change.UPDATE, Reason.NESTED) and node.name in nested


_CHANGES = {
    Change.UPDATE: "updated",
    Change.REPLACE: "replaced",
    Change.REINSTATE: "replaced",
    Change.CREATE: "created",
    Change.CONTINUE: "created",
    Change.LATER: "changed, depending on a value that is not known yet",
}


def _change(node: Node) -> Diagnostic:
    cause = ", ".join(node.changed) or node.reason.value
    message = f"{node.name} would be {_CHANGES.get(node.change, node.change.value)} ({cause})"
    return _fault(node.name, message, _ADVICE, *node.changed[:1])


def _fault(
    name: str, message: str, suggestion: str | None = None, property_name: str | None = None
) -> Diagnostic:
    below = () if property_name is None else ("properties", property_name)
    return Diagnostic(_CODE, message, ("resources", name, *below), suggestion=suggestion)
