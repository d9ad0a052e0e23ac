"""Lists the effects of an update or delete on each resource, including nested stacks.

The decisions are in the plans of :mod:`stoker.engine.execution.nested.preview_tree`. This module
turns them into lines for users.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from stoker.engine.execution.nested.preview_tree import PreviewedStack, foresee_delete
from stoker.engine.execution.session import StackRows
from stoker.engine.model.interfaces import Ports
from stoker.engine.model.plans import NO_RELEASES, Change, Node, Reason, Releases, Step
from stoker.engine.model.records import Resource, Stack, is_nested
from stoker.engine.model.views import ChangeView
from stoker.engine.service.impossible_changes import require_possible
from stoker.engine.service.previews.likely_moves import likely_moves
from stoker.engine.service.stack_access.presenters import resource_view, row_to_be
from stoker.engine.service.stack_access.resource_positions import positions_of
from stoker.engine.service.views.plan_order import Place, places
from stoker.engine.service.views.property_changes import Compared, compared, masking_over
from stoker.kernel.logs.masking import Masking
from stoker.kernel.values import replace
from stoker.template.definition import DeletionPolicy
from stoker.template.evaluate.evaluation import Evaluation

_CHANGES = {
    Change.CREATE: "added",
    Change.CONTINUE: "added",
    Change.UPDATE: "updated",
    Change.REPLACE: "replaced",
    Change.REINSTATE: "replaced",
    Change.LATER: "updated",
    Change.KEEP: "unchanged",
}
CHANGES, SAME, UNKNOWN = "changes", "same", "unknown"

_FEW = 100  # resources that are described on the event loop; more use a thread


class UpdatePreviews:
    """Builds the lines of plans, with secrets masked; ``show_nested`` adds nested stacks."""

    @classmethod
    async def over(
        cls, stack_rows: StackRows, planned: Iterable[Evaluation], *, show_nested: bool
    ) -> UpdatePreviews:
        """Return the previews of a stack, with the secrets of it and of the evaluations masked."""
        masking = await masking_over(stack_rows, planned)
        return cls(stack_rows.ports, masking, show_nested=show_nested)

    def __init__(self, ports: Ports, masking: Masking, *, show_nested: bool) -> None:
        self._ports = ports
        self._masking = masking
        self._show_nested = show_nested

    async def changes(
        self, foreseen: PreviewedStack, above: tuple[str, ...] = ()
    ) -> list[ChangeView]:
        """Return the changes of a stack's resources, each followed by those in its nested stack.

        Raises DiagnosticError for changes that no cloud carries out.
        """
        if not above:
            await self._ports.workers.compute(lambda: require_possible(foreseen))
        stack_rows, evaluation = foreseen.stack_rows, foreseen.evaluation
        order, lines = await self._ports.workers.compute(lambda: self._lines(foreseen, above))
        found = []
        for name in evaluation.names:
            line, row = lines[name], stack_rows.current.get(name)
            found.append(line)
            if not self._show_nested:
                continue
            if name in foreseen.nested:
                found += await self.changes(foreseen.nested[name], line.path)
            elif line.change in ("added", "replaced"):
                found += self._added(stack_rows.stack, evaluation, name, line.path)
            if line.change == "replaced" and row is not None:
                found += await self._below_deleted(row, line.path)
        released = NO_RELEASES if foreseen.prepared is None else foreseen.prepared.releases
        gone = _gone_rows(foreseen)
        return found + await self._gone(stack_rows.stack, gone, order, above, released)

    async def deletes(self, stack_rows: StackRows) -> list[ChangeView]:
        """Return the changes by a delete of a stack."""
        plan = await foresee_delete(stack_rows)
        rows = list(stack_rows.current.values())
        order = await self._ports.workers.compute(lambda: places(plan))
        return await self._gone(stack_rows.stack, rows, order, ())

    def _lines(
        self, foreseen: PreviewedStack, above: tuple[str, ...]
    ) -> tuple[Mapping[str, Place], Mapping[str, ChangeView]]:
        """Return the places in the plan, and the changes of the template's resources, by name."""
        stack_rows, evaluation = foreseen.stack_rows, foreseen.evaluation
        prepared = foreseen.prepared
        assert prepared is not None
        planned = {node.name: node for node in foreseen.plan.nodes(Step.APPLY)}
        differences, order = compared(foreseen, self._masking), places(foreseen.plan)
        lines = {name: _telling(node, differences.get(name)) for name, node in planned.items()}
        where = positions_of(evaluation, lines)
        added = {
            name: row_to_be(self._ports, stack_rows.stack, evaluation, name)
            for name in evaluation.names
            if name not in stack_rows.current
        }
        resembled = likely_moves(_gone_rows(foreseen), added.values())
        found = {}
        for name in evaluation.names:
            node, row = planned.get(name), stack_rows.current.get(name) or added[name]
            line = self._line(stack_rows.stack, row, "unchanged", Reason.SAME, above)
            if node is not None:
                line = _of_node(line, node, order.get(name), differences.get(name, Compared()))
            if line.change == "replaced":
                resource = replace(line.resource, type_name=evaluation.type_names[name])
                line = replace(line, resource=resource)
            if is_nested(row) or line.cause == Reason.NESTED:
                line = replace(line, inside=_inside(foreseen, name))
            if name in where:
                line = replace(line, position=where[name])
            imported = prepared.imported.unreported.get(name)
            found[name] = replace(
                line,
                moved_from=prepared.moves.get(name),
                imported=None if imported is None else row.physical_id,
                not_compared=imported or (),
                resembles=resembled.get(name),
            )
        return order, found

    def _line(
        self, stack: Stack, row: Resource, change: str, cause: Reason, above: tuple[str, ...]
    ) -> ChangeView:
        view = resource_view(stack, row, ())
        if self._masking:
            view = replace(view, properties=self._masking.data(view.properties))
        retained = row.external or row.deletion_policy == DeletionPolicy.RETAIN
        retained = retained or cause is Reason.RELEASED
        return ChangeView(
            view,
            change,
            cause,
            path=(*above, row.name),
            keeps_object=retained,
            holds_data=not retained and self._holds_data(row),
        )

    def _holds_data(self, row: Resource) -> bool:
        type_ = self._ports.types.find(row.implementation)
        saved = row.deletion_policy == DeletionPolicy.SNAPSHOT
        has_object = row.physical_id is not None and not saved
        return has_object and type_ is not None and type_.holds_data(row.properties)

    def _added(
        self, stack: Stack, evaluation: Evaluation, name: str, above: tuple[str, ...]
    ) -> list[ChangeView]:
        """Return the resources that a nested stack will have."""
        child = evaluation.children.get(name)
        if child is None:
            return []
        inner = replace(stack, id="None", name=f"{stack.name}-{name}", parent_resource=name)
        changes = []
        for below in child.names:
            shown = row_to_be(self._ports, inner, child, below)
            line = self._line(inner, shown, "added", Reason.NEW, above)
            # It is compared with its object when the nested stack starts.
            line = replace(line, imported=child.imports.get(below) or None)
            changes.append(line)
            changes += self._added(inner, child, below, line.path)
        return changes

    async def _gone(
        self,
        stack: Stack,
        rows: list[Resource],
        order: Mapping[str, Place],
        above: tuple[str, ...],
        releases: Releases = NO_RELEASES,
    ) -> list[ChangeView]:
        """Return the deletes of a stack's resources, each followed by those of its nested stack."""

        def described() -> list[ChangeView]:
            return [
                _placed(
                    self._line(
                        stack,
                        row,
                        "deleted",
                        Reason.RELEASED if releases.has(row.name) else Reason.NOT_WANTED,
                        above,
                    ),
                    order.get(row.name),
                )
                for row in rows
            ]

        is_few = len(rows) <= _FEW
        lines = described() if is_few else await self._ports.workers.compute(described)
        if not self._show_nested:
            return lines
        changes = []
        for row, line in zip(rows, lines, strict=True):
            changes.append(line)
            if line.cause != Reason.RELEASED:
                below = releases.below(row.name)
                changes += await self._below_deleted(row, line.path, below)
        return changes

    async def _below_deleted(
        self, row: Resource, path: tuple[str, ...], releases: Releases = NO_RELEASES
    ) -> list[ChangeView]:
        """Return the deletes in the nested stack of a deleted resource."""
        child = None if row.nested_id is None else await self._ports.store.stack(row.nested_id)
        if child is None or row.deletion_policy == DeletionPolicy.RETAIN:
            return []
        rows = await self._ports.store.resources(child.id)
        current = [below for below in rows if below.replaced_by is None]
        return await self._gone(child, current, {}, path, releases)


def _gone_rows(foreseen: PreviewedStack) -> list[Resource]:
    """Return the rows of resources that the template no longer has."""
    names = foreseen.evaluation.dependencies
    return [row for row in foreseen.stack_rows.current.values() if row.name not in names]


def _of_node(line: ChangeView, node: Node, place: Place | None, differs: Compared) -> ChangeView:
    return replace(
        _placed(line, place),
        change=_CHANGES[node.change],
        cause=node.reason,
        forcing=node.forcing,
        changed_properties=differs.changes,
        interruptions=differs.interruptions,
        overwrites_data=differs.overwrites_data,
        may_force=differs.may_force,
    )


def _telling(node: Node, differs: Compared | None) -> str | None:
    """Return the property whose position in the template explains a change best."""
    names = [*node.forcing]
    if differs is not None:
        names += [*differs.may_force, *(change.name for change in differs.changes)]
    return next(iter(names), None)


def _placed(line: ChangeView, place: Place | None) -> ChangeView:
    return line if place is None else replace(line, step=place.step, after=place.after)


def _inside(foreseen: PreviewedStack, name: str) -> str:
    """Return whether the nested stack of a resource changes, if that is known."""
    below = foreseen.nested.get(name)
    if below is None:
        return UNKNOWN
    return CHANGES if below.has_changes else SAME
