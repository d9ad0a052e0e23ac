"""Brings the resource of one name to its definition: the apply step of an operation."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from stoker.engine.execution.calls.actions import (
    ActionFailedError,
    ResourceActions,
    reason_of_resource,
)
from stoker.engine.execution.calls.type_caller import TypeCall
from stoker.engine.execution.nested.nesting import Nesting
from stoker.engine.execution.observe.preparation import call_about
from stoker.engine.execution.session import Session
from stoker.engine.execution.steps.handover import ReplacementHandover
from stoker.engine.execution.steps.hooks import Hooks
from stoker.engine.model.plans import Change, Definitions, Node, Observed, Reason, defined
from stoker.engine.model.records import Action, Operation, Resource, Status
from stoker.engine.planning.decision import (
    Choice,
    Decision,
    choose,
    given_properties,
    implementation_of,
    replaced_rows,
)
from stoker.engine.planning.facts import RecordedFacts
from stoker.kernel.diagnostics import Diagnostic, DiagnosticError
from stoker.kernel.values import replace
from stoker.schema.resource_type import (
    Call,
    Checks,
    MakesStack,
    ManagedType,
    NestingType,
    Outcome,
    PublishesMetadata,
    ScalableType,
    Updates,
    can,
)
from stoker.schema.unknown import unknown_in
from stoker.template.definition import Definition, TooMuchWorkError


class ApplyStep:
    """The apply steps of one operation."""

    def __init__(
        self,
        session: Session,
        operation: Operation,
        wanted: Definitions,
        actions: ResourceActions,
        nesting: Nesting,
        hooks: Hooks,
        observed: Observed,
    ) -> None:
        self._session = session
        self._operation = operation
        self._wanted = wanted
        self._actions = actions
        self._handover = ReplacementHandover(session, actions)
        self._nesting = nesting
        self._hooks = hooks
        self._observed = observed
        self._facts = RecordedFacts(session.current, session.reference_of)
        self._used = wanted.attributes_used
        self._replaced = replaced_rows(session.rows.values())

    async def apply(self, node: Node) -> None:
        """Apply the resource; do nothing if an earlier run of this operation has done it."""
        row = self._session.current.get(node.name)
        if row is not None and _is_done(row, self._operation):
            await self._hooks.passed(row)
            return
        definition, choice = await self._decided(row, node.name)
        decision = choice.decision
        if row is not None and decision.change.value in definition.restricted:
            await self._refuse(row, f"{decision.change} is restricted for resource.")
        if row is not None:
            why = self._operation.denial(decision.change, row.name, row.type_name)
            if why is not None:
                await self._refuse(row, why)
        match decision.change:
            case _ if row is not None and choice.row is not None and choice.row is not row:
                await self._take_up(choice.row, row, definition, decision)
            case Change.KEEP:
                assert row is not None
                await self._keep(row, definition)
            case Change.CREATE:
                await self._create(row, definition)
            case Change.CONTINUE:
                assert row is not None
                await self._continue(row, definition)
            case Change.UPDATE:
                assert row is not None
                await self._update(row, definition, decision)
            case Change.REPLACE:
                assert row is not None
                await self._replace(row, definition, decision)
            case _:
                raise DiagnosticError([_still_unknown(definition)])

    async def _decided(self, row: Resource | None, name: str) -> tuple[Definition, Choice]:
        """Return the definition and the decision of the resource; on a thread if it takes long."""
        rows = self._session.rows
        replaced = [rows[old.id] for old in self._replaced.get(name, ()) if old.id in rows]

        def decided(*, light: bool = False) -> tuple[Definition, Choice]:
            definition = defined(self._wanted, name, self._facts, light=light)
            choice = choose(row, replaced, definition, call_about(self._session), self._observed)
            return definition, _with_known(choice, definition)

        try:
            return decided(light=True)
        except TooMuchWorkError:
            return await self._session.ports.workers.compute(decided)

    def _columns(self, definition: Definition) -> dict[str, Any]:
        return _recorded(definition, self._session.current)

    def _new_row(self, definition: Definition, **columns: Any) -> Resource:
        return self._session.new_row(
            definition.name, **_whole(definition, self._session.current), **columns
        )

    async def _refuse(self, row: Resource, reason: str) -> None:
        """Refuse a forbidden change with an event; the row stays as it is."""
        shown = replace(row, action=Action.UPDATE, status=Status.FAILED, reason=reason)
        await self._session.commit(events=[self._session.transitions.event_of(shown)])
        raise ActionFailedError(shown, _restricted(row.name, reason))

    async def _keep(self, row: Resource, definition: Definition) -> None:
        """Keep the resource; update only its recorded dependencies.

        If they are the same, nothing is written: an engine that starts again decides the same.
        """
        row = await self._hooks.before(row, Action.UPDATE)
        columns = self._columns(definition)
        if any(getattr(row, name) != value for name, value in columns.items()):
            row = replace(row, operation_id=self._operation.id, **columns)
            await self._session.commit(resources=[row])

    async def _create(self, row: Resource | None, definition: Definition) -> None:
        if row is None:
            row = self._new_row(definition)
        else:
            row = replace(row, **_whole(definition, self._session.current))
        if definition.external_id is not None:
            await self._refer(row, definition)
        elif self._operation.action is Action.ADOPT:
            row = await self._actions.begin(row, Action.ADOPT, calls=definition.type)
            await self._finish(row, definition)
        else:
            row = await self._hooks.before(row, Action.CREATE)
            row = await self._actions.begin(row, Action.CREATE, calls=definition.type)
            await self._finish(row, definition)

    async def _refer(self, row: Resource, definition: Definition) -> None:
        """An object that is not ours: it must exist already."""
        type_, physical_id = definition.type, _external_id(row, definition)
        known = {"external": True, "physical_id": physical_id}
        if not isinstance(type_, ManagedType) or not can(type_, Checks):
            row = await self._actions.begin(row, Action.CHECK, calls=None, **known)
            row = replace(row, reason=f"CHECK not supported for {definition.type_name}")
        else:
            row = await self._actions.begin(row, Action.CHECK, calls=type_, **known)
            used = self._used.get(row.name, frozenset())
            work = TypeCall(type_, type_.check, row.properties, attributes=used)
            row = await self._actions.run(row, work)
        await self._complete(row)

    async def _continue(self, row: Resource, definition: Definition) -> None:
        """Continue a create, or adopt, of an earlier operation or of a dead engine."""
        if row.status is Status.FAILED:
            row = await self._actions.begin(
                row, Action.CREATE, calls=definition.type, **self._columns(definition)
            )
        if row.action is Action.CREATE:
            if isinstance(definition.type, ManagedType):
                row = await self._actions.adopt_lost(row, definition.type)
            await self._handover.release(row)
        await self._finish(row, definition)

    async def _update(self, row: Resource, definition: Definition, decision: Decision) -> None:
        if decision.reason is Reason.NESTED:
            used = self._used.get(row.name, frozenset())
            if await self._nesting.is_settled(row, definition, self._operation, used):
                await self._keep(row, definition)
                return
        row = await self._hooks.before(row, Action.UPDATE)
        dirty = _dirty(row, decision)
        row = await self._actions.begin_change(
            row, Action.UPDATE, self._operation, definition.type, dirty=dirty
        )
        await self._finish_update(row, definition, decision)

    async def _take_up(
        self, row: Resource, current: Resource, definition: Definition, decision: Decision
    ) -> None:
        """A row that was replaced stands for the resource again, and the current one goes."""
        current = await self._hooks.before(current, Action.UPDATE)
        row, begun = self._session.transitions.resource_to(
            replace(row, replaced_by=None),
            Action.UPDATE,
            Status.IN_PROGRESS,
            "state changed",
            dirty=_dirty(row, decision),
        )
        going = replace(current, replaced_by=row.id)
        await self._session.commit(resources=[going, row], events=[begun])
        await self._finish_update(row, definition, decision, going)

    async def _finish_update(
        self,
        row: Resource,
        definition: Definition,
        decision: Decision,
        going: Resource | None = None,
    ) -> None:
        """The rest of an update; ``going`` is the row whose place this one has just taken."""
        row = await self._handover.reclaim(row, going)
        row = replace(row, metadata=definition.metadata)
        await self._actions.values.require_room(replace(row, properties=definition.properties))
        columns = {"dirty": (), "properties": definition.properties, **self._columns(definition)}
        drifted = self._observed.drifted.get(row.id, {})
        before = {**row.properties, **{name: each.live for name, each in drifted.items()}}
        await self._finish(row, definition, decision.changed, before, **columns)

    async def _replace(self, old: Resource, definition: Definition, decision: Decision) -> None:
        """A new object beside the old one, which goes when all else is in its place."""
        for action in (Action.UPDATE, Action.CREATE):
            old = await self._hooks.before(old, action)
        session = self._session
        events = []
        if decision.changed:
            # clients know a replacement by this pair of events on the old resource
            for status in (Status.IN_PROGRESS, Status.COMPLETE):
                shown = replace(old, action=Action.UPDATE, status=status, reason="state changed")
                events.append(session.transitions.event_of(shown))
        new, event = session.transitions.resource_to(
            self._new_row(definition, hook=old.hook, origin=_origin(old, decision)),
            Action.CREATE,
            Status.IN_PROGRESS,
            "state changed",
        )
        await self._actions.values.require_room(new)
        policy = definition.update_replace_policy or old.deletion_policy
        replaced = replace(old, replaced_by=new.id, deletion_policy=str(policy))
        await session.commit(resources=[replaced, new], events=[*events, event])
        await self._handover.release(new, replaced)
        await self._finish(new, definition)

    async def _finish(
        self,
        row: Resource,
        definition: Definition,
        changed: frozenset[str] = frozenset(),
        previous: Mapping[str, Any] | None = None,
        **columns: Any,
    ) -> None:
        """Call the method of the type, if any, then commit the success."""
        type_, used = definition.type, self._used.get(row.name, frozenset())
        if isinstance(type_, NestingType):
            row = await self._nesting.apply(row, definition, self._operation, used)
            if isinstance(type_, ScalableType) and (changed or row.action is Action.CREATE):
                row = self._nesting.resized(row, type_)
        elif isinstance(type_, ManagedType):
            method = _method(row.action, type_, changed)
            if method is not None:
                work = TypeCall(
                    type_, method, given_properties(definition), previous, changed, used
                )
                adopts = row.action is Action.ADOPT
                row = await (self._actions.adopt if adopts else self._actions.run)(row, work)
            if can(type_, PublishesMetadata):
                row = await self._actions.publish(row, definition.properties)
        row = await self._actions.heard(row, definition.creation_policy)
        await self._complete(row, unhealthy=False, **columns)

    async def _complete(self, row: Resource, **columns: Any) -> None:
        """Commit the success of the action in progress, and stop at the hook that follows it."""
        session = self._session
        done, told = session.transitions.resource_to(
            row,
            row.action,
            Status.COMPLETE,
            row.reason,
            operation_id=self._operation.id,
            **columns,
        )
        done, paused = await self._hooks.reached(done, f"post-{row.action.lower()}")
        await session.commit(resources=[done], events=[told, *paused])
        await self._hooks.passed(done)


def _method(
    action: Action, type_: ManagedType, changed: frozenset[str]
) -> Callable[[Call], Outcome] | None:
    """Return the method of the type for the action, or None."""
    if action in (Action.CREATE, Action.ADOPT):
        return type_.create
    if (changed or can(type_, MakesStack)) and can(type_, Updates):
        return type_.update
    return None


def _recorded(definition: Definition, current: Mapping[str, Resource]) -> dict[str, Any]:
    """Return the columns of a row from its definition."""
    return {
        "type_name": definition.type_name,
        "implementation": implementation_of(definition),
        "dependencies": tuple(sorted(definition.dependencies)),
        "requires": tuple(
            sorted(current[name].id for name in definition.dependencies if name in current)
        ),
        "deletion_policy": definition.deletion_policy.value,
        "update_policy": definition.update_policy,
        "description": definition.description,
    }


def _is_done(row: Resource, operation: Operation) -> bool:
    return row.operation_id == operation.id and row.status is Status.COMPLETE


def _whole(definition: Definition, current: Mapping[str, Resource]) -> dict[str, Any]:
    """Return the columns of the row of a new object."""
    columns = {"properties": definition.properties, "metadata": definition.metadata}
    return {**_recorded(definition, current), **columns}


def _origin(old: Resource, decision: Decision) -> dict[str, Any]:
    """Return the row's record of the reason why it replaces another."""
    forcing = sorted(decision.forcing)
    return {"object": old.physical_id, "reason": decision.reason, "forcing": forcing}


def _dirty(row: Resource, decision: Decision) -> tuple[str, ...]:
    """Return the properties whose live values are unknown until the update is done."""
    return tuple(sorted({*row.dirty, *decision.changed}))


def _external_id(row: Resource, definition: Definition) -> str:
    """The id of an object that is referred to. Raises DiagnosticError for other values."""
    physical_id = definition.external_id
    if not isinstance(physical_id, str) or not physical_id or "\0" in physical_id:
        raise DiagnosticError([_no_id(row, physical_id)])
    return physical_id


def _no_id(row: Resource, external_id: Any) -> Diagnostic:
    return Diagnostic(
        code="bad-shape",
        message=f"the external id of {row.name} is the id of an object, as text,"
        f" not {external_id!r:.80}",
        path=("resources", row.name, "external_id"),
    )


def _with_known(choice: Choice, definition: Definition) -> Choice:
    """Return the choice. Raises DiagnosticError if a new object needs an unknowable value."""
    makes = choice.decision.change in (Change.CREATE, Change.REPLACE)
    if makes and unknown_in(definition.properties):
        raise DiagnosticError([_still_unknown(definition)])
    return choice


def _still_unknown(definition: Definition) -> Diagnostic:
    unknown = unknown_in(definition.properties)
    sources = ", ".join(sorted(unknown.sources)) if unknown else "another resource"
    return Diagnostic(
        code="value-never-known",
        message=f"a property of {definition.name} refers to an attribute that {sources} does not"
        " have",
        path=("resources", definition.name, "properties"),
    )


def _restricted(name: str, reason: str) -> str:
    why = f"{reason} The environment forbids it (restricted_actions)"
    return reason_of_resource(name, why, "ResourceActionRestricted")
