"""Brings the resource of one name to its definition: the apply step of an operation.

In: a node of the plan, and the definitions of the template. The decision about the resource is made
here, if the planner left it open. Then one method does the change: create, continue, update,
replace, keep, or reinstate a replaced row. Each holds the row in a :class:`ResourceRun`, calls the
type through it, and ends with the row complete; :class:`ActionFailedError` is raised after a
failure was committed. Called by :mod:`stoker.engine.execution.execute`. Tested by tests/operations,
tests/replacement, tests/rollback and the simulation.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from typing import Any

from stoker.engine.execution.calls.adopt import adopting
from stoker.engine.execution.calls.context import OperationContext
from stoker.engine.execution.calls.resource_run import ResourceRun
from stoker.engine.execution.calls.type_caller import TypeCall
from stoker.engine.execution.nested.nesting import Nesting, note_size
from stoker.engine.execution.observe.preparation import call_about
from stoker.engine.execution.reasons import ActionFailedError, reason_of_resource
from stoker.engine.execution.steps.early_creates import EarlyCreates
from stoker.engine.execution.steps.handover import ReplacementHandover
from stoker.engine.model.plans import Change, Definitions, Node, Observed, Reason, defined
from stoker.engine.model.records import Action, Event, Operation, Resource, Status
from stoker.engine.planning.decision import (
    Choice,
    Decision,
    choose,
    replaced_rows,
    require_known,
    row_columns,
    settings_columns,
    specified_properties,
    still_unknown,
)
from stoker.kernel.diagnostics import Diagnostic, DiagnosticError, shortened
from stoker.kernel.values import replace
from stoker.schema.resource_type import (
    Call,
    Checks,
    MakesStack,
    ManagedType,
    NestingType,
    Outcome,
    ScalableType,
    TakesDeployments,
    Updates,
    can,
)
from stoker.template.definition import Definition, TooMuchWorkError


class ApplyStep:
    """The apply steps of one operation."""

    def __init__(self, context: OperationContext, desired: Definitions, observed: Observed) -> None:
        self._context = context
        self._session = session = context.session
        self._operation = context.operation
        self._desired = desired
        self._observed = observed
        self._handover = ReplacementHandover(context)
        self._call_for = call_about(session)
        self._early = EarlyCreates(context, desired)
        self._used = desired.attributes_used
        self._replaced = replaced_rows(session.rows.values())

    async def apply(self, node: Node) -> None:
        """Apply the resource; do nothing if an earlier run of this operation has done it."""
        row = self._session.current.get(node.name)
        if row is not None and _is_done(row, self._operation):
            await self._context.hooks.wait_until_cleared(ResourceRun(self._context, row))
            return
        definition, choice = await self._decided(row, node.name)
        self._session.mask_passed(definition.type, definition.properties)
        decision = choice.decision
        if row is None:
            if decision.change is not Change.CREATE:
                raise DiagnosticError([still_unknown(definition)])
            columns = row_columns(definition, self._session.current)
            new = self._session.new_row(node.name, **columns)
            await self._create(ResourceRun(self._context, new), definition)
            return
        if decision.change.value in definition.restricted:
            await self._refuse(row, f"{decision.change} is restricted for resource.")
        why = self._operation.denial(decision.change, row.name, row.type_name)
        if why is not None:
            await self._refuse(row, why)
        run = ResourceRun(self._context, row)
        match decision.change:
            case _ if choice.row is not None and choice.row is not row:
                await self._reinstate(choice.row, run, definition, decision)
            case Change.CREATE:
                run.row = replace(row, **row_columns(definition, self._session.current))
                await self._create(run, definition)
            case Change.KEEP:
                await self._keep(run, definition)
            case Change.CONTINUE:
                await self._continue(run, definition)
            case Change.UPDATE:
                await self._update(run, definition, decision)
            case Change.REPLACE:
                await self._replace(run, definition, decision)
            case _:
                raise DiagnosticError([still_unknown(definition)])

    async def needs_end(self, node: Node, early: Collection[str]) -> Collection[str]:
        """Return which resources must be complete before this one starts."""
        row = self._session.current.get(node.name)
        if row is not None and _is_done(row, self._operation):
            return ()
        return await self._early.needs_end(node, early)

    async def _decided(self, row: Resource | None, name: str) -> tuple[Definition, Choice]:
        """Return the definition and the decision of the resource; on a thread if it takes long."""
        rows = self._session.rows
        replaced = [rows[old.id] for old in self._replaced.get(name, ()) if old.id in rows]

        def decided(*, light: bool = False) -> tuple[Definition, Choice]:
            definition = defined(self._desired, name, self._early.facts, light=light)
            choice = choose(row, replaced, definition, self._call_for, self._observed)
            require_known(choice, definition)
            return definition, choice

        try:
            return decided(light=True)
        except TooMuchWorkError:
            return await self._session.ports.workers.compute(decided)

    def _columns(self, definition: Definition) -> dict[str, Any]:
        return settings_columns(definition, self._session.current)

    async def _refuse(self, row: Resource, reason: str) -> None:
        """Reject a forbidden change with an event; the row stays as it is."""
        shown = replace(row, action=Action.UPDATE, status=Status.FAILED, reason=reason)
        await self._session.commit(events=[self._session.transitions.event_of(shown)])
        raise ActionFailedError(shown, _restricted(row.name, reason))

    async def _keep(self, run: ResourceRun, definition: Definition) -> None:
        """Keep the resource; update only its recorded dependencies.

        If they are the same, nothing is written: an engine that starts again decides the same.
        """
        await run.stop_before(Action.UPDATE)
        columns = self._columns(definition)
        if any(getattr(run.row, name) != value for name, value in columns.items()):
            await run.record(operation_id=self._operation.id, **columns)

    async def _create(self, run: ResourceRun, definition: Definition) -> None:
        if definition.external_id is not None:
            await self._refer(run, definition)
        elif self._operation.action is Action.ADOPT:
            await run.begin(Action.ADOPT, definition.type)
            await self._finish(run, definition)
        else:
            await run.stop_before(Action.CREATE)
            await run.begin(Action.CREATE, definition.type)
            await self._finish(run, definition)

    async def _refer(self, run: ResourceRun, definition: Definition) -> None:
        """Refer to an external object, which must exist already."""
        type_, physical_id = definition.type, _external_id(run.row, definition)
        known = {"external": True, "physical_id": physical_id}
        if not isinstance(type_, ManagedType) or not can(type_, Checks):
            await run.begin(Action.CHECK, None, **known)
            reason = f"CHECK not supported for {definition.type_name}"
            run.row = replace(run.row, reason=reason)
        else:
            await run.begin(Action.CHECK, type_, **known)
            used = self._used.get(run.row.name, frozenset())
            await run.call(TypeCall(type_, type_.check, run.row.properties, attributes=used))
        await run.complete()

    async def _continue(self, run: ResourceRun, definition: Definition) -> None:
        """Continue a create, or adopt, of an earlier operation or of a dead engine."""
        if run.row.status is Status.FAILED:
            await run.begin(Action.CREATE, definition.type, **self._columns(definition))
        if run.row.action is Action.CREATE:
            await self._handover.release(run)
        await self._finish(run, definition)

    async def _update(self, run: ResourceRun, definition: Definition, decision: Decision) -> None:
        if decision.reason is Reason.NESTED:
            used = self._used.get(run.row.name, frozenset())
            if await Nesting(self._context).is_settled(run, definition, used):
                await self._keep(run, definition)
                return
        await run.stop_before(Action.UPDATE)
        dirty = _dirty(run.row, decision)
        await run.begin_change(Action.UPDATE, definition.type, dirty=dirty)
        await self._handover.reclaim(run)
        await self._finish_update(run, definition, decision)

    async def _reinstate(
        self, row: Resource, run: ResourceRun, definition: Definition, decision: Decision
    ) -> None:
        """Reinstate a replaced row; the current row is removed later."""
        await run.stop_before(Action.UPDATE)
        going = replace(run.row, replaced_by=row.id)
        run = ResourceRun(self._context, replace(row, replaced_by=None))
        event = run.transition(Action.UPDATE, Status.IN_PROGRESS, dirty=_dirty(row, decision))
        await self._session.commit(resources=[going, run.row], events=[event])
        await self._handover.reclaim(run, going)
        await self._finish_update(run, definition, decision)

    async def _finish_update(
        self, run: ResourceRun, definition: Definition, decision: Decision
    ) -> None:
        row = run.row = replace(run.row, metadata=definition.metadata)
        await self._context.values.require_room(replace(row, properties=definition.properties))
        columns = {"dirty": (), "properties": definition.properties, **self._columns(definition)}
        drifted = self._observed.drifted.get(row.id, {})
        before = {**row.properties, **{name: each.live for name, each in drifted.items()}}
        await self._finish(run, definition, decision.changed, before, **columns)

    async def _replace(self, run: ResourceRun, definition: Definition, decision: Decision) -> None:
        """Create a new object next to the old one, which is deleted in the second phase."""
        for action in (Action.UPDATE, Action.CREATE):
            await run.stop_before(action)
        session, old, events = self._session, run.row, list[Event]()
        if decision.changed:
            # Clients recognize a replacement by this pair of events of the old resource.
            for status in (Status.IN_PROGRESS, Status.COMPLETE):
                shown = replace(old, action=Action.UPDATE, status=status, reason="state changed")
                events.append(session.transitions.event_of(shown))
        columns = row_columns(definition, session.current)
        new = session.new_row(
            definition.name, hook=old.hook, origin=_origin(old, decision), **columns
        )
        run = ResourceRun(self._context, new)
        events.append(run.transition(Action.CREATE, Status.IN_PROGRESS))
        await self._context.values.require_room(run.row)
        policy = definition.update_replace_policy or old.deletion_policy
        replaced = replace(old, replaced_by=new.id, deletion_policy=str(policy))
        await session.commit(resources=[replaced, run.row], events=events)
        await self._handover.release(run, replaced)
        await self._finish(run, definition)

    async def _finish(
        self,
        run: ResourceRun,
        definition: Definition,
        changed: frozenset[str] = frozenset(),
        previous: Mapping[str, Any] | None = None,
        **columns: Any,
    ) -> None:
        """Call the method of the type, if any, then commit the success."""
        type_, used = definition.type, self._used.get(run.row.name, frozenset())
        if isinstance(type_, NestingType):
            await Nesting(self._context).apply(run, definition, used)
            if isinstance(type_, ScalableType) and (changed or run.row.action is Action.CREATE):
                note_size(run, type_)
        elif isinstance(type_, ManagedType):
            method = _method(run.row.action, type_, changed)
            if run.row.action is Action.ADOPT:
                adopted = (await self._session.input()).adopted_resource(run.row.name)
                method = adopting(type_, adopted)
            if method is not None:
                properties = specified_properties(definition)
                work = TypeCall(type_, method, properties, previous, changed, used)
                is_early = self._early.lets_others_start(run.row, definition)
                await run.call(replace(work, lets_others_start=True) if is_early else work)
            if can(type_, TakesDeployments):
                await run.publish(definition.properties)
        await run.await_signals(definition.creation_policy)
        await run.complete(unhealthy=False, **columns)


def _method(
    action: Action, type_: ManagedType, changed: frozenset[str]
) -> Callable[[Call], Outcome] | None:
    """Return the method of the type for the action, or None."""
    if action is Action.CREATE:
        return type_.create
    if (changed or can(type_, MakesStack)) and can(type_, Updates):
        return type_.update
    return None


def _is_done(row: Resource, operation: Operation) -> bool:
    return row.operation_id == operation.id and row.status is Status.COMPLETE


def _origin(old: Resource, decision: Decision) -> dict[str, Any]:
    """Return the row's record of the reason why it replaces another."""
    forcing = sorted(decision.forcing)
    return {"object": old.physical_id, "reason": decision.reason, "forcing": forcing}


def _dirty(row: Resource, decision: Decision) -> tuple[str, ...]:
    """Return the properties whose live values are unknown until the update is done."""
    return tuple(sorted({*row.dirty, *decision.changed}))


def _external_id(row: Resource, definition: Definition) -> str:
    """Return the id of an external object. Raises DiagnosticError for any other value."""
    physical_id = definition.external_id
    if not isinstance(physical_id, str) or not physical_id or "\0" in physical_id:
        raise DiagnosticError([_no_id(row, physical_id)])
    return physical_id


def _no_id(row: Resource, external_id: Any) -> Diagnostic:
    value = shortened(repr(external_id), 80)
    return Diagnostic(
        code="bad-shape",
        message=f"the external id of {row.name} is the id of an object, as text, not {value}",
        path=("resources", row.name, "external_id"),
    )


def _restricted(name: str, reason: str) -> str:
    why = f"{reason} The environment forbids it (restricted_actions)"
    return reason_of_resource(name, why, "ResourceActionRestricted")
