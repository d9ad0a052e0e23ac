"""One action on one resource, from intent to result, with every commit that durability requires.

In: the row of a resource and the context of an operation. The steps of the operation call the
methods of :class:`ResourceRun` in turn; each changes the row that it holds, and commits it. Out:
the row is complete, or :class:`ActionFailedError` is raised after the failure was committed.

1. The row has the action and the intent token before any call. 2. The physical id is committed
before anything else happens to the resource. 3. A create that has intent but no physical id
searches for its object first (:mod:`create_recovery`).

A type's method is called, and called again after every ``Wait``. This module does not know plans or
their order. Tested by tests/operations, tests/recovery, tests/hooks and the simulation.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any, NoReturn

from stoker.engine.execution.calls.build import build_call
from stoker.engine.execution.calls.context import OperationContext
from stoker.engine.execution.calls.create_recovery import create, may_be_lost, sweep_row
from stoker.engine.execution.calls.creation_signals import failure_of_signals
from stoker.engine.execution.calls.server_metadata import (
    cancel_deployments,
    publish,
    publish_row,
)
from stoker.engine.execution.calls.type_caller import TypeCall, TypeCaller, with_answer
from stoker.engine.execution.reasons import ActionFailedError, reason_of_resource
from stoker.engine.execution.waiting import StoppedError
from stoker.engine.model.records import Action, Event, Resource, Status
from stoker.engine.model.stack_records.watches import WatchDefinition
from stoker.engine.planning.facts import REFERENCE
from stoker.kernel.errors import RequestError
from stoker.kernel.values import replace
from stoker.schema.resource_type import Done, Failed, Outcome, Reads, ResourceType, Wait, can
from stoker.schema.software import NO_SOFTWARE
from stoker.schema.watching import WatchesMetric


class ResourceRun(TypeCaller):
    """The action of an operation on one resource."""

    __slots__ = ("context",)

    def __init__(self, context: OperationContext, row: Resource) -> None:
        super().__init__(context.session, context.waiting, row)
        self.context = context

    def transition(
        self, action: Action, status: Status, reason: str = "state changed", **changes: Any
    ) -> Event:
        """Change the status of the row, and return the event, to be committed together."""
        self.row, event = self.session.transitions.resource_to(
            self.row, action, status, reason, **changes
        )
        return event

    async def begin(self, action: Action, calls: ResourceType | None, **changes: Any) -> None:
        """Start an action.

        The intent is committed if the type that ``calls`` uses a cloud. Otherwise it is written
        with the next commit of the row: without a request, a crash between the two loses nothing.
        """
        event = self.transition(action, Status.IN_PROGRESS, **changes)
        await self.context.values.require_room(self.row)
        if calls is None or calls.service is None:
            self.session.intend(event)
        else:
            await self.session.commit(resources=[self.row], events=[event])

    async def begin_change(self, action: Action, calls: ResourceType, **changes: Any) -> None:
        """Start an action that changes the object, after all earlier requests.

        An action that a dead engine has started continues where it was.
        """
        row, operation = self.row, self.context.operation
        was_started = (row.action, row.status) == (action, Status.IN_PROGRESS)
        if was_started and (row.action_started_at or 0.0) >= operation.created_at:
            started = {"action_started_at": row.action_started_at, "progress": row.progress}
            changes = {**started, **changes}
        send_times = await self._sent_before(operation.created_at if was_started else None)
        await self.begin(action, calls, asked=send_times, **changes)
        self.session.unanswered.pop(row.id, None)

    async def _sent_before(self, since: float | None) -> tuple[float, ...]:
        """Return the send times of unanswered requests about the row, at the start of a change.

        Updates, suspends and resumes change an object. The same change sent again does no harm. A
        different change must not be overtaken by one whose response was lost: this waits until
        none of these can take effect any longer. A request that was started ``since`` then belongs
        to the same change. Only types that call a service send requests.
        """
        type_ = self.session.type_of(self.row)
        if type_ is None or type_.service is None:
            return ()
        await self.end_of_orphan()
        send_times = self._unanswered()
        if since is not None and (self.row.action_started_at or 0.0) >= since:
            return send_times
        limits, sent = self.session.ports.limits, max(send_times, default=0.0)
        left = sent + limits.landing - self.session.ports.clock.now()
        if left > 0 and sent >= limits.cloud_since:
            await self.waiting.sleep(left)
        return send_times

    def _unanswered(self) -> tuple[float, ...]:
        """Return the recorded send times, with that of a change whose response is unknown."""
        sent = self.session.unanswered.get(self.row.id)
        return self.row.asked if sent is None else (*self.row.asked, sent)

    async def fail(self, reason: str) -> NoReturn:
        """Commit the failure of the action in progress, and raise :class:`ActionFailedError`."""
        event = self.transition(self.row.action, Status.FAILED, reason, asked=self._unanswered())
        await self.session.commit(resources=[self.row], events=[event])
        raise ActionFailedError(self.row, reason)

    async def complete(self, **columns: Any) -> None:
        """Commit the success of the action in progress, and wait at the hook that follows it."""
        action = self.row.action
        event = self.transition(
            action,
            Status.COMPLETE,
            self.row.reason,
            operation_id=self.context.operation.id,
            **columns,
        )
        hooks = self.context.hooks
        events = await hooks.reach(self, "post", action)
        await self.session.commit(resources=[self.row], events=[event, *events])
        if self.row.hook:
            await hooks.wait_until_cleared(self)

    async def stop_before(self, action: Action) -> None:
        """Wait at the hook before an action until it is cleared. Raises :class:`StoppedError`."""
        await self.context.hooks.stop_before(self, action)

    async def call(self, work: TypeCall) -> None:
        """Call the type until it is done; the row is still in progress then.

        Raises :class:`ActionFailedError` after the failure is committed, and :class:`StoppedError`
        when the operation ends the wait.
        """
        while True:
            seen = self.waiting.round
            outcome = await self._answer(work)
            match outcome:
                case Failed():
                    self.row = with_answer(
                        self.row, outcome.physical_id, outcome.attributes, outcome.data
                    )
                    await self.fail(reason_of_resource(self.row.name, outcome.reason, outcome.kind))
                case Done():
                    if self.row.action is Action.DELETE:
                        # Nothing would find surplus objects once the row is dropped.
                        await sweep_row(self)
                    elif can(work.type, WatchesMetric):
                        await _watch(self, work, outcome.physical_id)
                    await self._record_done(work, outcome)
                    return
                case Wait():
                    await self._record_wait(outcome)
                    if outcome.early and work.lets_others_start:
                        await self._let_others_start(work)
                    try:
                        await self.waiting.wait(outcome, seen)
                    except StoppedError:
                        if self.waiting.stopped:
                            raise
                        await cancel_deployments(self.session, [self.row])
                        await self.fail(f"{self.row.action} aborted: {self.waiting.failed}")

    async def _answer(self, work: TypeCall) -> Outcome:
        """Return the answer to a call, after its software is recorded.

        A rejection becomes a failure.
        """
        try:
            outcome: Outcome = await (
                create(self, work) if may_be_lost(self.row, work) else self.ask(work)
            )
            if isinstance(outcome, Failed):
                return outcome
            if outcome.software is not NO_SOFTWARE:
                await self._record_software(outcome)
            if outcome.attributes:
                return await self.context.values.within(self.row, outcome)
        except RequestError as refused:
            return Failed(refused.message)
        return outcome

    async def _record_software(self, outcome: Done | Wait) -> None:
        """Record the software in an answer, and publish it to its servers.

        Raises :class:`stoker.kernel.errors.RequestError` if the cloud finally rejects that.
        """
        session = self.session
        await session.record_software(outcome.software)
        for server_id in outcome.software.servers:
            await self.until_accepted(
                partial(publish, session.ports, session.stack.project_id, server_id)
            )

    async def _record_wait(self, wait: Wait) -> None:
        """Commit the state of a pending type, if it has changed."""
        updated = with_answer(self.row, wait.physical_id, wait.attributes, wait.data, wait.progress)
        if wait.reason:
            updated = replace(updated, reason=wait.reason)
        if updated != self.row:
            self.row = updated
            await self.session.commit(resources=[updated])
        await self.session.tell_intent(updated)

    async def _let_others_start(self, work: TypeCall) -> None:
        """Record the early attributes, then let dependants start."""
        early, early_attributes = self.context.early, work.attributes & work.type.early_attributes
        if early is None or early.is_early(early.key_of(self.row)):
            return
        missing = early_attributes - self.row.attributes.keys()
        if missing and can(work.type, Reads):
            try:
                live = await self.ask(replace(work, method=work.type.read))
                found = {name: live[name] for name in missing & live.keys()}
                answer = await self.context.values.within(self.row, Done(attributes=found))
            except RequestError:
                return  # the next poll tries again
            if isinstance(answer, Failed):
                return  # the end of the action reports it
            await self.record(attributes={**self.row.attributes, **found})
        early.allow(self.row)

    async def _record_done(self, work: TypeCall, done: Done) -> None:
        """Add the values of the last answer to the row, and attributes that others refer to."""
        before = self.row
        row = self.row = with_answer(
            before,
            done.physical_id,
            done.attributes,
            done.data,
            reason=done.reason or "state changed",
            asked=self._unanswered(),
        )
        # Attributes that were recorded before an update may have changed with it.
        known = (done.attributes or {}) if row.action is Action.UPDATE else row.attributes
        found: dict[str, Any] = {}
        if missing := work.attributes - known.keys():
            # Attributes that neither the answer nor the object has are empty.
            found = {name: row.attributes.get(name) for name in missing}
            if can(work.type, Reads):
                # Result next: the id is committed before another call about the resource.
                if row.physical_id != before.physical_id:
                    await self.record()
                try:
                    found |= await self.ask(replace(work, method=work.type.read))
                except RequestError as refused:
                    await self.fail(refused.message)
        plain = type(work.type).reference is ResourceType.reference
        if not plain or row.physical_id is None:
            call = build_call(self.session, row, work.type, properties=work.properties)
            reference = work.type.reference(call)
            if reference != row.physical_id:
                found[REFERENCE] = reference
        if not found:
            return
        within = await self.context.values.within(self.row, Done(attributes=found))
        if isinstance(within, Failed):
            await self.fail(within.reason)
        self.row = replace(self.row, attributes={**self.row.attributes, **found})

    async def publish(self, properties: Mapping[str, Any]) -> None:
        """Publish a server's metadata, unless it polls this service.

        Raises :class:`ActionFailedError` after the failure is committed.
        """
        server = replace(self.row, properties=properties)
        try:
            await self.until_accepted(partial(publish_row, self.session, server))
        except RequestError as refused:
            await self.fail(refused.message)

    async def await_signals(self, creation_policy: Mapping[str, Any]) -> None:
        """Wait for the success signals that a creation policy requires. Raises as :meth:`call`."""
        if creation_policy and self.row.action is Action.CREATE:
            reason = await failure_of_signals(self, creation_policy)
            if reason is not None:
                await self.fail(reason_of_resource(self.row.name, reason, "CreationPolicy"))


async def _watch(run: ResourceRun, work: TypeCall, physical_id: str | None) -> None:
    """Evaluate the watch rule of the resource from now on."""
    session, row, type_ = run.session, run.row, work.type
    assert can(type_, WatchesMetric)
    rule = type_.rule(build_call(session, row, work.type, properties=work.properties))
    now = session.ports.clock.now()
    watch = WatchDefinition(
        row.id,
        row.stack_id,
        physical_id or row.physical_id or row.name,
        rule.namespace,
        rule.metric,
        created_at=now,
        next_at=now + rule.period,
    )
    await session.record([watch])
