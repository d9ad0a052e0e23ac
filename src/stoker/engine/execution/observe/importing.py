"""Makes the rows of imported objects, before a plan.

In: the definitions, and the ids of objects by resource. Out: rows in memory, one for each object,
with the properties that the object has: those of the definition, with the live values where they
differ. So a plan shows the changes of an import, and the planner decides them as any update.

The object is read, and never changed. It must exist, belong to the project of the stack, and be no
resource of any stack. An operation commits the rows with its start. Called by
:mod:`stoker.engine.operations.change` and previews. Tested by tests/imports.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from msgspec import Struct

from stoker.engine.execution.calls.adopt import examined, is_strange
from stoker.engine.execution.calls.ownership import Owners
from stoker.engine.execution.calls.type_caller import Ask, TypeCall
from stoker.engine.execution.observe.observing import Observation, comparison_with_live
from stoker.engine.execution.session import Session, StackRows
from stoker.engine.model.interfaces import ENDS_TURN
from stoker.engine.model.kinds import ChangeRequest
from stoker.engine.model.plans import Definitions, Releases, defined
from stoker.engine.model.records import Action, Operation, Resource, Status
from stoker.engine.planning.decision import implementation_of, row_columns
from stoker.engine.planning.facts import RecordedFacts
from stoker.engine.planning.imports import (
    NO_IMPORTS,
    ImportFaults,
    imports_to_make,
    known_properties,
    require_releasable,
)
from stoker.kernel.errors import UnavailableError, require_machine
from stoker.kernel.values import replace
from stoker.schema.resource_type import (
    Call,
    Claims,
    ManagedType,
    ResourceType,
    can,
    why_not_importable,
)
from stoker.template.definition import Definition

_MOST_REASONS = 5  # in the reason of a failed operation


class Imported(Struct, frozen=True):
    """The rows of imported objects, and the properties that could not be compared."""

    rows: tuple[Resource, ...] = ()
    before: tuple[Resource, ...] = ()  # rows of failed creates, which the imports complete
    unreported: Mapping[str, tuple[str, ...]] = {}  # by resource

    @property
    def ids(self) -> dict[str, str]:
        """Return the id of each object by resource."""
        return {row.name: str(row.physical_id) for row in self.rows}

    def undo(self, stack_rows: StackRows) -> None:
        """Remove the rows from memory."""
        stack_rows.discard(self.rows)
        stack_rows.restore(self.before)


NOTHING_IMPORTED = Imported()


async def add_imports(
    stack_rows: StackRows,
    desired: Definitions,
    ask: Ask,
    requested: Mapping[str, str] = NO_IMPORTS,
    *,
    changes: bool = False,
) -> Imported:
    """Add the rows of imported objects to ``stack_rows``, in memory, and return them.

    ``requested`` has the ids of objects by resource, beside those that the template declares.
    Without ``changes``, an object that differs from its definition is refused. Raises
    DiagnosticError, and then adds nothing.
    """
    compute = stack_rows.ports.workers.compute
    ids = await compute(lambda: imports_to_make(desired, stack_rows.current, requested))
    if not ids:
        return NOTHING_IMPORTED
    return await _Import(stack_rows, desired, ask, ids).add(changes=changes)


async def prepare_objects(
    session: Session, operation: Operation, desired: Definitions, ask: Ask
) -> Imported:
    """Add the rows of the objects that an operation imports, and mark the parts of the objects.

    Raises DiagnosticError, also for resources that cannot be released.
    """
    request = operation.request
    assert isinstance(request, ChangeRequest)
    if operation.action not in (Action.CREATE, Action.UPDATE):
        return NOTHING_IMPORTED
    if request.keep_objects:
        require_releasable(Releases(request.keep_objects), desired, session.current)
    requested, changes = request.import_objects, request.change_imported
    is_rollback = request.releases_imports
    if is_rollback or not (requested or desired.imports):
        return NOTHING_IMPORTED
    imported = await add_imports(session, desired, ask, requested, changes=changes)
    try:
        for row in imported.rows:
            type_ = session.type_of(row)
            if isinstance(type_, ManagedType) and can(type_, Claims):
                await ask(row, TypeCall(type_, type_.claim, row.properties))
    except BaseException:
        imported.undo(session)
        raise
    return imported


async def give_up_contested(session: Session, operation: Operation) -> str | None:
    """Drop the rows of imported objects that another stack has imported meanwhile; return why.

    Two operations may have read the rows of the project before either of them wrote its own. Each
    calls this after its commit, so that at most one keeps the object. The object stays.
    """
    contested, reasons = [], []
    for row in session.current.values():
        if row.action is not Action.ADOPT or row.updated_at < operation.created_at:
            continue
        type_ = session.type_of(row)
        if not row.is_imported or not isinstance(type_, ManagedType):
            continue
        holder = await Owners(session).holder(row, type_, (str(row.physical_id),))
        if holder is not None:
            contested.append(row)
            where = f"the resource {holder.row.name} of the stack {holder.stack.name}"
            reasons.append(f"{row.physical_id} was imported as {where} at the same time")
    if not contested:
        return None
    transitions = session.transitions
    events = [
        transitions.event_of(
            replace(row, action=Action.DELETE, reason=f"released {row.physical_id}; {why}")
        )
        for row, why in zip(contested, reasons, strict=True)
    ]
    await session.commit(dropped=[row.id for row in contested], events=events)
    return "; ".join(reasons[:_MOST_REASONS])


class _Import:
    """One import of several objects."""

    def __init__(
        self, stack_rows: StackRows, desired: Definitions, ask: Ask, ids: Mapping[str, str]
    ) -> None:
        self._stack_rows = stack_rows
        self._desired = desired
        self._ask = ask
        self._ids = ids
        self._faults = ImportFaults(desired)

    async def add(self, *, changes: bool) -> Imported:
        current = self._stack_rows.current
        before = tuple(current[name] for name in self._ids if name in current)
        rows = {name: self._row(name, current.get(name)) for name in self._ids}
        self._stack_rows.restore(rows.values())
        try:
            return replace(await self._compared(rows, changes=changes), before=before)
        except BaseException:
            Imported(tuple(rows.values()), before).undo(self._stack_rows)
            raise

    def _row(self, name: str, failed: Resource | None) -> Resource:
        """Return a row with the id, so that references to the resource are known."""
        ports, now = self._stack_rows.ports, self._stack_rows.ports.clock.now()
        row = failed or Resource(
            id=ports.ids.uuid(),
            stack_id=self._stack_rows.stack.id,
            name=name,
            type_name=self._desired.type_names[name],
            token=ports.ids.token(),
            created_at=now,
            updated_at=now,
        )
        return replace(
            row,
            updated_at=now,
            action=Action.ADOPT,
            status=Status.COMPLETE,
            reason=f"imported {self._ids[name]}",
            physical_id=self._ids[name],
            progress={},
            dirty=(),
            unhealthy=False,
            origin={"imported": True},
        )

    async def _compared(self, rows: Mapping[str, Resource], *, changes: bool) -> Imported:
        """Return the rows with the attributes and properties of their objects."""
        definitions = await self._definitions(rows)
        # With their types, so that two resources do not import one object.
        self._stack_rows.restore(
            replace(row, implementation=implementation_of(definitions[name]))
            for name, row in rows.items()
        )
        await self._require_ownerless(rows, definitions)
        # Properties may refer to attributes of other imported objects.
        self._stack_rows.restore(await self._with_attributes(rows, definitions))
        definitions = await self._definitions(rows)
        found = await self._observations(rows, definitions)
        if not changes:
            for name, each in found.items():
                self._faults.compare(definitions[name], each.found.differences)
            self._faults.require_none()
        imported = []
        for name in rows:
            definition, current = definitions[name], self._stack_rows.current
            live = {each.name: each.live for each in found[name].found.differences}
            properties = {**known_properties(definition), **live}
            columns = {**row_columns(definition, current), "properties": properties}
            imported.append(replace(current[name], **columns))
        self._stack_rows.restore(imported)
        unreported = {name: each.found.unreported for name, each in found.items()}
        return Imported(tuple(imported), unreported=unreported)

    async def _definitions(self, names: Iterable[str]) -> dict[str, Definition]:
        """Return the definitions. Raises DiagnosticError for types that cannot be imported."""
        rows = self._stack_rows

        def evaluate() -> dict[str, Definition]:
            facts = RecordedFacts(rows.current, rows.reference_of)
            return {name: defined(self._desired, name, facts) for name in names}

        found = await rows.ports.workers.compute(evaluate)
        for name, definition in found.items():
            why_not = why_not_importable(definition.type)
            if why_not is not None:
                self._faults.add(name, f"{definition.type_name} {why_not}")
            elif definition.external_id is not None:
                self._faults.add(name, f"{name} has an external id, and would be imported as well")
            elif is_strange(self._ids[name]) or not _fits(definition.type, self._ids[name]):
                form = definition.type.id_form
                advice = f"it is written {form}" if form else None
                self._faults.add(name, f'"{self._ids[name]}" is not the id of an object', advice)
        self._faults.require_none()
        return found

    async def _require_ownerless(
        self, rows: Mapping[str, Resource], definitions: Mapping[str, Definition]
    ) -> None:
        """Raise DiagnosticError if a resource of any stack of the project owns an object."""
        owners = Owners(self._stack_rows)
        for name, row in rows.items():
            type_ = _managed(definitions[name])
            row = replace(row, properties=known_properties(definitions[name]))
            holder = await owners.holder(row, type_, (self._ids[name],))
            if holder is None:
                continue
            owner, stack = holder.row.name, holder.stack
            where = f"the stack {stack.name}"
            advice = f"release it there first: stoker forget {stack.name} {owner}"
            if stack.id == self._stack_rows.stack.id:
                where = "this stack"
                advice = f"write stoker: {{moved_from: {owner}}} to rename that resource"
            message = f"{self._ids[name]} belongs to the resource {owner} of {where}"
            self._faults.add(name, message, advice)
        self._faults.require_none()

    async def _with_attributes(
        self, rows: Mapping[str, Resource], definitions: Mapping[str, Definition]
    ) -> list[Resource]:
        """Return the rows with the attributes of their objects."""

        def reading(type_: ManagedType) -> Callable[[Call], Any]:
            def read(call: Call) -> Any:
                return examined(type_, call)

            return read

        found = []
        for name, (attributes, why_not) in (
            await self._ask_all(rows, definitions, reading)
        ).items():
            if why_not is not None:
                self._faults.add(name, why_not)
            properties = known_properties(definitions[name])
            known = {**definitions[name].type.foreseen(properties), **attributes}
            columns = row_columns(definitions[name], self._stack_rows.current)
            columns |= {"properties": properties, "attributes": known}
            found.append(replace(rows[name], **columns))
        self._faults.require_none()
        return found

    async def _observations(
        self, rows: Iterable[str], definitions: Mapping[str, Definition]
    ) -> dict[str, Observation]:
        """Return the comparison of each object with its definition."""

        def comparing(type_: ManagedType) -> Callable[[Call], Any]:
            comparison = comparison_with_live(self._stack_rows, type_)
            assert comparison is not None
            return comparison

        current = {name: self._stack_rows.current[name] for name in rows}
        found: dict[str, Observation] = await self._ask_all(current, definitions, comparing)
        for name, each in found.items():
            if each.gone:
                self._faults.add(name, f"there is no object {self._ids[name]}")
        self._faults.require_none()
        return found

    async def _ask_all(
        self,
        rows: Mapping[str, Resource],
        definitions: Mapping[str, Definition],
        method: Callable[[ManagedType], Callable[[Call], Any]],
    ) -> dict[str, Any]:
        """Return the answer of a method about each object. All are called together.

        Raises UnavailableError if a service does not respond now.
        """

        async def answer(name: str, row: Resource) -> Any:
            type_, properties = _managed(definitions[name]), known_properties(definitions[name])
            try:
                return await self._ask(row, TypeCall(type_, method(type_), properties))
            except ENDS_TURN:
                raise
            except Exception as error:
                require_machine(error)
                faults = self._stack_rows.ports.faults
                reason = f"{self._ids[name]} cannot be read: {faults.describe(error)}"
                if faults.retry_after(error, 0) is not None:
                    raise UnavailableError(f"resources.{name}: {reason}") from error
                form = type_.id_form
                advice = f"ids of {type_.type_name} are written {form}" if form else None
                self._faults.add(name, reason, advice)
                return None

        answers = await asyncio.gather(*(answer(name, row) for name, row in rows.items()))
        self._faults.require_none()
        return dict(zip(rows, answers, strict=True))


def _fits(type_: ResourceType, physical_id: str) -> bool:
    return not type_.id_pattern or re.fullmatch(type_.id_pattern, physical_id) is not None


def _managed(definition: Definition) -> ManagedType:
    assert isinstance(definition.type, ManagedType)
    return definition.type
