"""What an update would do to each resource of a stack, and of the stacks nested in it.

The plan of an update says it of one stack. What a nested stack would be given is worked out as if
the operation were under way, from what is known now.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from stoker.engine.execution.nesting import NestedFailed, foreseen, is_nested
from stoker.engine.execution.preparation import (
    ask_beside,
    call_about,
    check_failed_and_replaced,
)
from stoker.engine.execution.session import StackRows
from stoker.engine.model.interfaces import Ports
from stoker.engine.model.plans import Change, Reason, Step, defined
from stoker.engine.model.records import Input, Resource, Stack, evolve
from stoker.engine.model.secrets import hidden_values, masked_changes
from stoker.engine.model.views import ChangeView
from stoker.engine.planning.evaluations import Documents, evaluation_of
from stoker.engine.planning.facts import RecordedFacts
from stoker.engine.planning.planner import Planner
from stoker.engine.service.presenters import resource_view, row_to_be
from stoker.engine.service.property_changes import property_changes, secrets_in
from stoker.kernel.errors import Invalid
from stoker.template.evaluate.evaluation import Evaluation

_CHANGES = {
    Change.CREATE: "added",
    Change.CONTINUE: "added",
    Change.UPDATE: "updated",
    Change.REPLACE: "replaced",
    Change.TAKE_UP: "replaced",
    Change.LATER: "updated",
    Change.KEEP: "unchanged",
}


class UpdatePreviews:
    """The changes of one update; ``show_nested`` is whether those of nested stacks count.

    Objects whose physical ids are in ``unhealthy`` count as marked unhealthy.
    """

    def __init__(self, ports: Ports, *, show_nested: bool, unhealthy: frozenset[str]) -> None:
        self._ports = ports
        self._show_nested = show_nested
        self._unhealthy = unhealthy

    async def changes(self, stack: Stack, given: Input, evaluation: Evaluation) -> list[ChangeView]:
        """What happens to the resources of a stack; after each, to those of the nested stack."""
        rows = await self._ports.store.resources(stack.id)
        secrets = await secrets_in(self._ports, stack, rows, evaluation)
        views = await self._changes(stack, rows, given, evaluation, secrets)
        return await self._ports.workers.compute(lambda: masked_changes(views, secrets))

    async def _changes(
        self,
        stack: Stack,
        recorded: Sequence[Resource],
        given: Input,
        evaluation: Evaluation,
        secrets: list[Any],
    ) -> list[ChangeView]:
        rows = tuple(
            evolve(row, unhealthy=True) if row.physical_id in self._unhealthy else row
            for row in recorded
        )
        stack_rows = StackRows(self._ports, stack, rows)
        healthy = await check_failed_and_replaced(stack_rows, evaluation, ask_beside(stack_rows))
        planner = Planner(rows, stack_rows.reference_of, call_about(stack_rows), healthy)
        plan = await self._ports.workers.compute(lambda: planner.plan(evaluation))
        planned = {node.name: node for node in plan.nodes(Step.APPLY)}
        compared = await self._ports.workers.compute(
            lambda: property_changes(stack_rows, evaluation, planned, secrets)
        )
        changes = []
        for name in evaluation.names:
            node, row = planned.get(name), stack_rows.current.get(name)
            shown = row_to_be(self._ports, stack, evaluation, name) if row is None else row
            view = _change_view(stack, shown, "unchanged", Reason.SAME)
            if node is not None:
                view = ChangeView(
                    view.resource,
                    _CHANGES[node.change],
                    node.reason,
                    node.forcing,
                    compared.get(name, ()),
                )
            changes.append(view)
            if not self._show_nested:
                continue
            if view.change in ("added", "replaced"):
                changes += self._added(stack, evaluation, name)
            if view.change == "replaced" and row is not None:
                changes += await self._deleted(row)
            elif row is not None and is_nested(row):
                changes += await self._below(stack_rows, row, given, evaluation, secrets)
        for row in stack_rows.current.values():
            if row.name not in evaluation.needs:
                changes.append(_change_view(stack, row, "deleted", Reason.NOT_WANTED))
                changes += await self._deleted(row) if self._show_nested else []
        return changes

    async def _below(
        self,
        stack_rows: StackRows,
        row: Resource,
        own: Input,
        evaluation: Evaluation,
        secrets: list[Any],
    ) -> list[ChangeView]:
        """What happens in the nested stack of a resource that stays, as far as it is known."""
        facts = RecordedFacts(stack_rows.current, stack_rows.reference_of)
        definition = defined(evaluation, row.name, facts)
        used = evaluation.attributes_used.get(row.name, frozenset())
        try:
            wanted = await foreseen(stack_rows, row, definition, used, own)
        except NestedFailed as failed:
            raise Invalid(f"resources.{row.name}: {failed}") from failed
        if wanted is None:
            return []
        child, given = wanted

        def evaluate() -> Evaluation:
            return evaluation_of(self._ports, child, given, Documents.of(given))

        inner = await self._ports.workers.compute(evaluate)
        secrets += hidden_values(inner)
        rows = await self._ports.store.resources(child.id)
        return await self._changes(child, rows, given, inner, secrets)

    def _added(self, stack: Stack, evaluation: Evaluation, name: str) -> list[ChangeView]:
        """The resources of a nested stack that there will be."""
        child = evaluation.children.get(name)
        if child is None:
            return []
        inner = replace(stack, id="None", name=f"{stack.name}-{name}", parent_resource=name)
        changes = []
        for below in child.names:
            shown = row_to_be(self._ports, inner, child, below)
            changes.append(_change_view(inner, shown, "added", Reason.NEW))
            changes += self._added(inner, child, below)
        return changes

    async def _deleted(self, row: Resource) -> list[ChangeView]:
        """The resources of a nested stack that goes."""
        child = None if row.nested_id is None else await self._ports.store.stack(row.nested_id)
        if child is None:
            return []
        changes = []
        for below in await self._ports.store.resources(child.id):
            if below.replaced_by is None:
                changes.append(_change_view(child, below, "deleted", Reason.NOT_WANTED))
                changes += await self._deleted(below)
        return changes


def _change_view(stack: Stack, row: Resource, change: str, cause: Reason) -> ChangeView:
    return ChangeView(resource_view(stack, row, ()), change, cause)
