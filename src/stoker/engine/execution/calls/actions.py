"""One action on one resource, from intent to result, with every commit that the rules require.

1. The row has the action and the intent token before any call. 2. The physical id is committed
before anything else happens to the resource. 3. A create that has intent but no physical id looks
for its object first.

A type's method is called, and called again after every ``Wait``. Knows nothing of plans and order.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import partial
from typing import Any

from stoker.engine.execution.calls.adopt import NOT_PROVIDED, adopting
from stoker.engine.execution.calls.build import build_call
from stoker.engine.execution.calls.create_recovery import CreateRecovery
from stoker.engine.execution.calls.late_updates import sent_before, with_unanswered
from stoker.engine.execution.calls.publish import cancel_deployments, publish, publish_row
from stoker.engine.execution.calls.type_caller import TypeCall, TypeCaller
from stoker.engine.execution.calls.watch_rules import watch
from stoker.engine.execution.session import Session
from stoker.engine.execution.value_sizes import ValueSizes
from stoker.engine.execution.waiting import StoppedError, Waiting
from stoker.engine.model.records import Action, Operation, Resource, Status
from stoker.engine.planning.facts import REFERENCE
from stoker.kernel.errors import RequestError
from stoker.kernel.values import replace
from stoker.schema.resource_type import (
    Adopts,
    Done,
    Failed,
    ManagedType,
    Outcome,
    Reads,
    ResourceType,
    Wait,
    can,
)
from stoker.schema.software import NO_SOFTWARE

_OF_STACK = re.compile(r"Resource [A-Z]+ failed: (?=(?:[A-Za-z]+: )?resources\.)")
"""The start of the reason of a stack. ``ValueError: resources.web.resources.disk: no space`` may
follow: the failure of ``disk`` in the nested stack of ``web``. Programs take it apart."""
_PLACE = re.compile(r"((?:^|; )(?:[A-Za-z]+: )?)resources\.")
"""Where one of the failures in such a reason says what has failed."""
_MOST_REASONS = 10
"""Failures that the reason of a stack names."""


class ActionFailedError(Exception):
    """An action has failed, and the row says so. The text is the reason."""

    def __init__(self, row: Resource, reason: str) -> None:
        super().__init__(reason)
        self.row = row
        self.reason = reason


def reason_of_resource(name: str, reason: str, kind: str | None) -> str:
    """The reason of a resource that has failed itself."""
    return reason if kind is None else f"{kind}: resources.{name}: {reason}"


def reason_of_nested(name: str, reason: str) -> str:
    """The reason of a resource whose nested stack has failed for ``reason``."""
    found = _OF_STACK.match(reason)
    if found is None:
        return reason
    return _PLACE.sub(lambda place: f"{place[1]}resources.{name}.resources.", reason[found.end() :])


def named_reason(name: str, reason: str) -> str:
    """The reason of a resource with the name in it, which may be there already."""
    own = (f"resources.{name}: ", f"resources.{name}.")
    named = reason.startswith(own) or reason.partition(": ")[2].startswith(own)
    return reason if named else f"resources.{name}: {reason}"


def reason_of_stack(action: Action, *named: str) -> str:
    """The reason of a stack whose resources have failed for these reasons, with names in them."""
    told = "; ".join(named[:_MOST_REASONS])
    more = f"; and {len(named) - _MOST_REASONS} more" if len(named) > _MOST_REASONS else ""
    return f"Resource {action} failed: {told}{more}"


class ResourceActions:
    """Runs actions of one session."""

    def __init__(self, session: Session, waiting: Waiting) -> None:
        self._session = session
        self._waiting = waiting
        self._calls = TypeCaller(session, waiting)
        self.values = ValueSizes(session)
        self._creating = CreateRecovery(session, waiting, self._calls)

    async def begin(
        self, row: Resource, action: Action, *, calls: ResourceType | None, **changes: Any
    ) -> Resource:
        """Return the row, in progress.

        The intent is committed if the type that ``calls`` uses a cloud. Otherwise it is written
        with the next commit about the row, which makes no visible difference.
        """
        row, event = self._session.transitions.resource_to(
            row, action, Status.IN_PROGRESS, "state changed", **changes
        )
        await self.values.require_room(row)
        if calls is None or calls.service is None:
            self._session.intend(event)
        else:
            await self._session.commit(resources=[row], events=[event])
        return row

    async def begin_change(
        self,
        row: Resource,
        action: Action,
        operation: Operation,
        type_: ResourceType,
        **changes: Any,
    ) -> Resource:
        """Return the same for an action that changes the object, after all earlier requests.

        An action that a dead engine has started continues where it was.
        """
        begun = (row.action, row.status) == (action, Status.IN_PROGRESS)
        since = operation.created_at if begun else None
        if begun and (row.action_started_at or 0.0) >= operation.created_at:
            begun_at = {"action_started_at": row.action_started_at, "progress": row.progress}
            changes = {**begun_at, **changes}
        asked = await sent_before(self._session, self._calls, self._waiting, row, since)
        row = await self.begin(row, action, calls=type_, asked=asked, **changes)
        self._session.unanswered.pop(row.id, None)
        return row

    async def fail(self, row: Resource, reason: str, **changes: Any) -> Resource:
        """Commit the failure of the action in progress."""
        row, event = self._session.transitions.resource_to(
            with_unanswered(self._session, row), row.action, Status.FAILED, reason, **changes
        )
        await self._session.commit(resources=[row], events=[event])
        return row

    async def adopt_lost(self, row: Resource, type_: ManagedType) -> Resource:
        """Look for the object of a create that was cut off, and record it if it is there."""
        return await self._creating.adopt(row, type_)

    async def obstructs(self, row: Resource, successor: Resource) -> bool:
        """Return whether the successor can be created only after a delete of the object."""
        return await self._creating.vacancy.is_obstructed(successor, row)

    async def heard(self, row: Resource, policy: Mapping[str, Any]) -> Resource:
        """Wait for the signals that a creation policy asks for.

        Raises as :meth:`run` does.
        """
        row, fault = await self._creating.heard(row, policy)
        if fault is not None:
            reason = reason_of_resource(row.name, fault, "CreationPolicy")
            row = await self.fail(row, reason)
            raise ActionFailedError(row, reason)
        return row

    async def sweep(self) -> None:
        """Remove objects of lost creates of this stack beside its own objects."""
        await self._creating.sweep(list(self._session.rows.values()))

    async def run(self, row: Resource, work: TypeCall) -> Resource:
        """Call the type until it is done; returns the row, still in progress.

        Raises :class:`ActionFailedError` after the failure is committed, and
        :class:`StoppedError` when the operation is no longer wanted.
        """
        while True:
            seen = self._waiting.round
            outcome: Outcome
            try:
                if _may_be_lost(row, work):
                    row, outcome = await self._creating.create(row, work)
                else:
                    outcome = await self._calls.ask(row, work)
                if not isinstance(outcome, Failed):
                    row = await self._record(row, outcome)
                    outcome = await self.values.within(row, outcome)
            except RequestError as refused:
                outcome = Failed(refused.message)
            match outcome:
                case Failed():
                    kept = _kept(row, outcome.physical_id, outcome.attributes, outcome.data)
                    reason = reason_of_resource(row.name, outcome.reason, outcome.kind)
                    row = await self.fail(kept, reason)
                    raise ActionFailedError(row, reason)
                case Done():
                    if row.action is Action.DELETE:
                        await self._creating.sweep_one(row)
                    else:
                        await watch(self._session, row, work, outcome.physical_id)
                    return await self._finish(row, work, outcome)
                case Wait():
                    row = await self._note(row, outcome)
                    try:
                        await self._waiting.wait(outcome, seen)
                    except StoppedError:
                        if self._waiting.stopped:
                            raise
                        reason = f"{row.action} aborted: {self._waiting.failed}"
                        await cancel_deployments(self._session, [row])
                        row = await self.fail(row, reason)
                        raise ActionFailedError(row, reason) from None

    async def _record(self, row: Resource, outcome: Done | Wait) -> Resource:
        """Record the software in an answer, and publish it to its servers.

        Raises :class:`stoker.kernel.errors.RequestError` if a cloud finally refuses that.
        """
        session = self._session
        if outcome.software is not NO_SOFTWARE:
            await session.record(software=outcome.software)
            for server_id in outcome.software.servers:
                tell = partial(publish, session.ports, session.stack.project_id, server_id)
                row = await self._calls.until_accepted(row, tell)
        return row

    async def publish(self, row: Resource, properties: Mapping[str, Any]) -> Resource:
        """Bring a server's metadata to where it reads it, if that is elsewhere.

        Raises :class:`ActionFailedError` after the failure is committed.
        """
        server = replace(row, properties=properties)
        try:
            return await self._calls.until_accepted(
                row, partial(publish_row, self._session, server)
            )
        except RequestError as refused:
            row = await self.fail(row, refused.message)
            raise ActionFailedError(row, refused.message) from refused

    async def republish(self, row: Resource) -> Resource:
        """Bring new metadata to where a server reads it; the row keeps its status.

        Raises :class:`stoker.kernel.errors.RequestError`.
        """
        return await self._calls.until_accepted(row, partial(publish_row, self._session, row))

    async def adopt(self, row: Resource, work: TypeCall) -> Resource:
        """Run the action with the object that the stack's input names in place of a new one."""
        given = (await self._session.input()).adopted_resource(row.name)
        return await self.run(row, replace(work, method=adopting(work.type, given)))

    async def fail_unnamed(self, row: Resource) -> ActionFailedError:
        """The failure of a resource to be adopted that the stack's input does not name."""
        reason = reason_of_resource(row.name, NOT_PROVIDED, "Exception")
        return ActionFailedError(await self.fail(row, reason), reason)

    async def settle(self, row: Resource, work: TypeCall) -> Resource:
        """Call a method that belongs to no action until it is done; the row keeps its status.

        Raises :class:`stoker.kernel.errors.RequestError` where it fails.
        """
        while True:
            seen = self._waiting.round
            outcome = await self._calls.ask(row, work)
            if isinstance(outcome, Failed):
                raise RequestError(outcome.reason)
            kept = _kept(row, outcome.physical_id, outcome.attributes, outcome.data)
            if kept != row:
                await self._session.commit(resources=[kept])
                row = kept
            if isinstance(outcome, Done):
                return row
            await self._waiting.wait(outcome, seen)

    async def _note(self, row: Resource, wait: Wait) -> Resource:
        """Commit the state of a pending type, if it has changed."""
        noted = _kept(row, wait.physical_id, wait.attributes, wait.data, wait.progress)
        if wait.reason:
            noted = replace(noted, reason=wait.reason)
        if noted != row:
            await self._session.commit(resources=[noted])
        await self._session.tell_intent(noted)
        return noted

    async def _finish(self, row: Resource, work: TypeCall, done: Done) -> Resource:
        kept = _kept(
            with_unanswered(self._session, row),
            done.physical_id,
            done.attributes,
            done.data,
            reason=done.reason or "state changed",
        )
        # what was recorded before an update may have changed with it
        known = (done.attributes or {}) if row.action is Action.UPDATE else kept.attributes
        found: dict[str, Any] = {}
        if missing := work.attributes - known.keys():
            # Attributes that neither the answer nor the object has are empty.
            found = {name: kept.attributes.get(name) for name in missing}
            if can(work.type, Reads):
                if kept.physical_id != row.physical_id:
                    await self._session.commit(resources=[kept])
                try:
                    found |= await self._calls.ask(kept, replace(work, method=work.type.read))
                except RequestError as refused:
                    failed = await self.fail(kept, refused.message)
                    raise ActionFailedError(failed, refused.message) from refused
        plain = type(work.type).reference is ResourceType.reference
        if not plain or kept.physical_id is None:
            call = build_call(self._session, kept, work.type, properties=work.properties)
            reference = work.type.reference(call)
            if reference != kept.physical_id:
                found[REFERENCE] = reference
        if not found:
            return kept
        within = await self.values.within(kept, Done(attributes=found))
        if isinstance(within, Failed):
            raise ActionFailedError(await self.fail(kept, within.reason), within.reason)
        return replace(kept, attributes={**kept.attributes, **found})


def _may_be_lost(row: Resource, work: TypeCall) -> bool:
    """Return whether the call may make an object whose response is lost, but which can be found."""
    # A create that was handed a link may be sent again to bring it to its properties.
    unseen = row.physical_id is None or bool(work.type.link)
    creates = row.action is Action.CREATE and unseen
    return creates and work.type.service is not None and can(work.type, Adopts)


def _kept(
    row: Resource,
    physical_id: str | None,
    attributes: Mapping[str, Any] | None,
    data: Mapping[str, Any] | None,
    progress: Mapping[str, Any] | None = None,
    **changes: Any,
) -> Resource:
    """The row with those values that an answer has named, and with other changes."""
    if physical_id is not None:
        changes["physical_id"] = physical_id
    if attributes is not None:
        changes["attributes"] = {**row.attributes, **attributes}
    if data is not None:
        changes["data"] = dict(data)
    if progress is not None and dict(progress) != dict(row.progress):
        changes["progress"] = dict(progress)
    return replace(row, **changes) if changes else row
