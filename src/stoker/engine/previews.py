"""What requests would do: evaluated and planned like any other, and never recorded."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from stoker.engine.acceptance import Acceptance
from stoker.engine.decision import Change
from stoker.engine.plan import Planner, defined
from stoker.engine.ports import Ports
from stoker.engine.preparation import call_about, find_usable
from stoker.engine.records import Resource, Stack
from stoker.engine.requests import Caller, StackRequest
from stoker.engine.session import Session
from stoker.engine.showing import resource_view, stack_view
from stoker.engine.views import ChangeView, ResourceView, StackView
from stoker.schema.resource_type import Foresees
from stoker.schema.unknown import unknown_in
from stoker.template.definition import Definition
from stoker.template.evaluation import Evaluation
from stoker.template.survey import RecordedReferences

_CHANGES = {
    Change.CREATE: "added",
    Change.CONTINUE: "added",
    Change.UPDATE: "updated",
    Change.REPLACE: "replaced",
    Change.TAKE_UP: "replaced",
    Change.LATER: "updated",
    Change.KEEP: "unchanged",
}


class Previews:
    """Previews of creates and updates, for a caller."""

    def __init__(self, ports: Ports, acceptance: Acceptance) -> None:
        self._ports = ports
        self._acceptance = acceptance

    async def create(
        self, caller: Caller, request: StackRequest
    ) -> tuple[StackView, Sequence[ResourceView]]:
        """What a create would make."""
        stack, evaluation = await self._acceptance.evaluate_new(caller, request)

        def view() -> tuple[StackView, Sequence[ResourceView]]:
            outputs = tuple(evaluation.outputs(RecordedReferences()))
            return stack_view(stack, evaluation, outputs), self._views(stack, evaluation)

        return await self._ports.workers.compute(view)

    def _views(self, stack: Stack, evaluation: Evaluation) -> list[ResourceView]:
        """The resources of a stack to be; after each, those of the nested stack behind it."""
        facts = RecordedReferences()
        needed = _needed_by(evaluation)
        views = []
        for name in evaluation.names:
            row = self._row_to_be(stack, evaluation, name)
            attributes = _attributes_to_be(evaluation.definition(name, facts))
            view = resource_view(stack, row, needed.get(name, ()), attributes)
            child = evaluation.children.get(name)
            if child is None:
                views.append(view)
                continue
            inner = replace(stack, name=f"{stack.name}-{name}", parent_resource=name)
            views += [replace(view, nested=inner.address), *self._views(inner, child)]
        return views

    def _row_to_be(self, stack: Stack, evaluation: Evaluation, name: str) -> Resource:
        definition = defined(evaluation, name, RecordedReferences())
        now = self._ports.clock.now()
        return Resource(
            id=self._ports.ids.uuid(),
            stack_id=stack.id,
            name=name,
            type_name=definition.type_name,
            token=self._ports.ids.token(),
            created_at=now,
            updated_at=now,
            properties=definition.properties,
            metadata=definition.metadata,
            description=definition.description,
            needs=tuple(definition.needs),
        )

    async def update(
        self, caller: Caller, stack: Stack, request: StackRequest
    ) -> Sequence[ChangeView]:
        """The plan of an update."""
        _, evaluation = await self._acceptance.evaluate_update(caller, stack, request)
        rows = tuple(await self._ports.store.resources(stack.id))
        session = Session(self._ports, stack, rows)
        usable = await find_usable(session, evaluation)
        planner = Planner(rows, session.reference_of, call_about(session), usable)
        plan = await self._ports.workers.compute(lambda: planner.plan(evaluation))
        planned = {node.name: node for node in plan.applied}
        changes = []
        for name in evaluation.names:
            node, row = planned.get(name), session.current.get(name)
            change = _CHANGES[node.change] if node is not None else "unchanged"
            changed = node.changed if node is not None else ()
            shown = self._row_to_be(stack, evaluation, name) if row is None else row
            changes.append(_change_view(stack, shown, change, changed))
        changes += [
            _change_view(stack, row, "deleted", ())
            for row in session.current.values()
            if row.name not in evaluation.needs
        ]
        return changes


def _attributes_to_be(definition: Definition) -> dict[str, Any]:
    """What can be told of the attributes of a resource before there is one; else None."""
    type_ = definition.type
    foreseen = type_.foreseen(definition.properties) if isinstance(type_, Foresees) else {}
    known = {name: value for name, value in foreseen.items() if unknown_in(value) is None}
    return {**dict.fromkeys(type_.attributes), **known}


def _needed_by(evaluation: Evaluation) -> dict[str, list[str]]:
    needed: dict[str, list[str]] = {}
    for name, needs in evaluation.needs.items():
        for need in needs:
            needed.setdefault(need, []).append(name)
    return needed


def _change_view(stack: Stack, row: Resource, change: str, changed: Sequence[str]) -> ChangeView:
    return ChangeView(
        name=row.name,
        type_name=row.type_name,
        change=change,
        resource_id=row.id,
        physical_id=row.physical_id,
        action=row.action.value,
        status=row.status.value,
        reason=row.reason,
        stack=stack.address,
        changed_properties=tuple(changed),
        properties=row.properties,
        created_at=row.created_at,
        updated_at=row.updated_at,
        metadata=row.metadata,
        description=row.description,
    )
