"""One action on one resource, from intent to result, with every commit that the rules ask for.

1. The row says what is about to happen, and carries the intent token, before any call.
2. The physical id is committed before anything else happens to the resource.
3. A create that has intent but no physical id looks for its object first.

A type's method is called, and called again after every ``Wait``. A call that a cloud turns away
for now (busy, rate limit, conflict) is repeated. Knows nothing of plans and order.
"""

from __future__ import annotations

import asyncio
import functools
from collections.abc import Callable, Mapping
from concurrent.futures import Future
from dataclasses import dataclass, replace
from typing import Any

from stoker.engine.calls import lookups_of, make_call, with_ids
from stoker.engine.facts import REFERENCE
from stoker.engine.records import Action, Resource, Status
from stoker.engine.session import Session
from stoker.engine.waiting import Stopped, Waiting
from stoker.kernel.errors import Refused
from stoker.schema.resource_type import (
    Adopts,
    Call,
    Done,
    Failed,
    Outcome,
    Reads,
    ResourceType,
    Wait,
)

Method = Callable[[Call], Outcome]

LONGEST_CALL = 120.0
"""Seconds that a call which was left behind is waited for."""
MOST_LOST = 5
"""How often an answer may get lost before a create is given up."""


class ActionFailed(Exception):
    """An action has failed, and the row says so. The text is the reason."""

    def __init__(self, row: Resource, reason: str) -> None:
        super().__init__(reason)
        self.row = row
        self.reason = reason


class LostAnswer(Exception):
    """A create may have been done, but its answer never came. The text is the cloud's."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


@dataclass(frozen=True, slots=True)
class Work:
    """An action that is to be done: what is called, and with which properties."""

    type: ResourceType
    action: Action
    method: Method
    properties: Mapping[str, Any]
    previous: Mapping[str, Any]
    changed: frozenset[str] = frozenset()
    attributes: frozenset[str] = frozenset()
    """Attributes that somebody refers to: read once the object is there."""


class Actions:
    """Runs actions of one session."""

    def __init__(self, session: Session, waiting: Waiting) -> None:
        self._session = session
        self._waiting = waiting

    async def begin(self, row: Resource, action: Action, **changes: Any) -> Resource:
        """Commit the intent; the row then is in progress."""
        row, event = self._session.transitions.resource_to(
            row, action, Status.IN_PROGRESS, "state changed", **changes
        )
        await self._session.commit(resources=[row], events=[event])
        return row

    async def fail(self, row: Resource, reason: str, **changes: Any) -> Resource:
        """Commit the failure of the action in progress."""
        row, event = self._session.transitions.resource_to(
            row, row.action, Status.FAILED, reason, **changes
        )
        await self._session.commit(resources=[row], events=[event])
        return row

    async def adopt_lost(self, row: Resource, type_: ResourceType) -> Resource:
        """Look for the object of a create that was cut off, and record it if it is there."""
        if row.physical_id is not None or not isinstance(type_, Adopts):
            return row
        work = Work(type_, row.action, type_.create, row.properties, {})
        found = await self._ask(row, work, type_.find)
        if found is None:
            return row
        row = replace(row, physical_id=found)
        await self._session.commit(resources=[row])
        return row

    async def run(self, row: Resource, work: Work) -> Resource:
        """Call the type until it is done; returns the row, still in progress.

        Raises :class:`ActionFailed` after the failure is committed, and
        :class:`stoker.engine.waiting.Stopped` when the operation is no longer wanted.
        """
        lost = 0
        while True:
            seen = self._waiting.round
            try:
                outcome = await self._ask(row, work, work.method)
            except LostAnswer as answer:
                lost += 1
                if lost > MOST_LOST or not isinstance(work.type, Adopts):
                    outcome = Failed(answer.reason)
                else:
                    # the object may be there: it is looked for before it is asked for again
                    row = await self.adopt_lost(row, work.type)
                    continue
            except Refused as refused:
                outcome = Failed(refused.message)
            match outcome:
                case Failed():
                    kept = _kept(row, outcome.physical_id, None, outcome.data, None)
                    row = await self.fail(kept, outcome.reason)
                    raise ActionFailed(row, outcome.reason)
                case Done():
                    return await self._finish(row, work, outcome)
                case Wait():
                    row = await self._note(row, outcome)
                    try:
                        await self._waiting.wait(outcome, seen)
                    except Stopped:
                        if self._waiting.stopped:
                            raise
                        reason = f"{row.action} aborted: {self._waiting.failed}"
                        row = await self.fail(row, reason)
                        raise ActionFailed(row, reason) from None

    async def settle(self, row: Resource, type_: ResourceType, method: Method) -> Resource:
        """Call a method that belongs to no action until it is done; the row keeps its status.

        Raises :class:`stoker.kernel.errors.Refused` where it fails.
        """
        work = Work(type_, row.action, method, row.properties, {})
        while True:
            seen = self._waiting.round
            outcome = await self._ask(row, work, method)
            if isinstance(outcome, Failed):
                raise Refused(outcome.reason)
            kept = _kept(row, None, outcome.attributes, outcome.data, None)
            if kept != row:
                await self._session.commit(resources=[kept])
                row = kept
            if isinstance(outcome, Done):
                return row
            await self._waiting.wait(outcome, seen)

    async def _note(self, row: Resource, wait: Wait) -> Resource:
        """Commit what a pending type has told, if it is news."""
        noted = _kept(row, wait.physical_id, wait.attributes, wait.data, wait.progress)
        if wait.reason:
            noted = replace(noted, reason=wait.reason)
        if noted != row:
            await self._session.commit(resources=[noted])
        return noted

    async def _finish(self, row: Resource, work: Work, done: Done) -> Resource:
        kept = _kept(row, done.physical_id, done.attributes, done.data, None)
        if done.metadata is not None:
            kept = replace(kept, metadata=done.metadata)
        # what was recorded before an update may have changed with it
        known = (done.attributes or {}) if work.action is Action.UPDATE else kept.attributes
        missing = work.attributes - known.keys()
        if missing and isinstance(work.type, Reads):
            if kept.physical_id != row.physical_id:
                await self._session.commit(resources=[kept])
            try:
                attributes = await self._ask(kept, work, work.type.read)
            except Refused as refused:
                failed = await self.fail(kept, refused.message)
                raise ActionFailed(failed, refused.message) from refused
            kept = replace(kept, attributes={**kept.attributes, **attributes})
        # what neither the answer nor the object tells is empty, and nobody need wait for it
        kept = replace(kept, attributes={**dict.fromkeys(missing), **kept.attributes})
        call = make_call(self._session, kept, work.type, properties=work.properties)
        reference = work.type.reference(call)
        if reference != kept.physical_id:
            kept = replace(kept, attributes={**kept.attributes, REFERENCE: reference})
        return replace(kept, reason=done.reason or "state changed")

    async def _ask(self, row: Resource, work: Work, method: Callable[[Call], Any]) -> Any:
        """The answer of one of the type's methods; cloud refusals come as :class:`Refused`.

        Calls that the cloud turns away for now are repeated after the time it names.
        """
        creating = method == work.type.create
        await self._let_end(row)
        attempt = 0
        while True:
            call = make_call(
                self._session,
                row,
                work.type,
                properties=work.properties,
                previous=work.previous,
                changed=work.changed,
            )
            try:
                return await self._run(
                    row, work.type.service, functools.partial(self._call, call, work.type, method)
                )
            except Refused:
                raise
            except Exception as error:
                faults = self._session.ports.faults
                if method == work.type.delete and faults.is_not_found(error):
                    return Done()
                if faults.is_uncertain(error) and row.physical_id is None and creating:
                    raise LostAnswer(faults.describe(error)) from error
                after = faults.retry_after(error, attempt)
                if after is None:
                    raise Refused(faults.describe(error)) from error
                attempt += 1
                await self._waiting.wait(Wait(after=after), self._waiting.round)

    async def _run(self, row: Resource, service: str | None, call: Callable[[], Any]) -> Any:
        """What the call returns. One that goes on after the caller was cancelled is remembered."""
        ended: Future[None] = Future()

        def noted() -> Any:
            if not ended.set_running_or_notify_cancel():
                return None
            try:
                return call()
            finally:
                ended.set_result(None)

        try:
            return await self._session.ports.workers.run(service, noted)
        except asyncio.CancelledError:
            if not ended.cancel():
                self._session.left_behind[row.id] = ended
            raise

    async def _let_end(self, row: Resource) -> None:
        """Wait for a call about the row that was left behind: what it does must not come later."""
        left = self._session.left_behind.pop(row.id, None)
        if left is not None:
            await asyncio.wait([asyncio.wrap_future(left)], timeout=LONGEST_CALL)

    def _call(self, call: Call, type_: ResourceType, method: Callable[[Call], Any]) -> Any:
        """Runs on a worker: names become ids, then the type is called."""
        ports, stack = self._session.ports, self._session.stack
        if type_.service is not None:
            call = replace(call, cloud=ports.clouds.connection(stack))
            if call.action not in ("DELETE", "CHECK"):
                call = replace(call, properties=self._with_ids(type_, call.properties))
                if call.previous and call.action == "UPDATE":
                    call = replace(call, previous=self._with_ids(type_, call.previous))
        return method(call)

    def _with_ids(self, type_: ResourceType, properties: Mapping[str, Any]) -> Mapping[str, Any]:
        lookups = lookups_of(type_, properties)
        if not lookups:
            return properties
        found = self._session.ports.clouds.lookup(self._session.stack, lookups)
        return with_ids(properties, lookups, dict(enumerate(found)))


def _kept(
    row: Resource,
    physical_id: str | None,
    attributes: Mapping[str, Any] | None,
    data: Mapping[str, Any] | None,
    progress: Mapping[str, Any] | None,
) -> Resource:
    """The row with those values that an answer has named."""
    if physical_id is not None and physical_id != row.physical_id:
        row = replace(row, physical_id=physical_id)
    if attributes is not None:
        row = replace(row, attributes={**row.attributes, **attributes})
    if data is not None:
        row = replace(row, data=dict(data))
    if progress is not None and dict(progress) != dict(row.progress):
        row = replace(row, progress=dict(progress))
    return row
