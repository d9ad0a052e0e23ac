"""The rows of one stack in the memory of the engine that drives it, as last committed.

In: the stack and its resource rows, read once when the engine acquires the stack. Out: changes.
Each method that changes a row commits it under the fencing token of the stack. The invariant: no
other engine writes these rows while the token holds, so the rows in memory equal the stored rows.
:class:`StackRows` only reads, for previews and views; :class:`Session` also writes, for operations.
Created by the driver. Tested by tests/operations, tests/recovery and the simulation.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from stoker.engine.model.interfaces import ENDS_TURN, Ports, SettledRows, StoreError, Unchanged
from stoker.engine.model.outgoing import Resizing, resizing_notification
from stoker.engine.model.records import (
    CREATION_SIGNAL,
    UNSET_HOOK,
    Action,
    Event,
    Input,
    Message,
    Operation,
    Resource,
    Stack,
    Status,
    StoredSignal,
    TreeState,
)
from stoker.engine.model.secrets import hidden_in, masked_event, masked_reason
from stoker.engine.model.stack_records.exports import Export, Exports
from stoker.engine.model.storage.changes import AnyRecord, Key, OwnerChange
from stoker.engine.model.storage.software import SoftwareChange, software_records
from stoker.engine.model.transitions import Transitions
from stoker.engine.planning.facts import REFERENCE
from stoker.engine.planning.moves import moved
from stoker.kernel.errors import fault_reason, require_machine
from stoker.kernel.logs.masking import Masking
from stoker.kernel.time_limit import project
from stoker.kernel.values import replace
from stoker.schema.resource_type import (
    NestingType,
    ResourceType,
    Signal,
    SignalCredentials,
    StackFacts,
)
from stoker.template.definition import DeletionPolicy

_BETWEEN_ENDS = re.compile("[:=]")  # in the ids of links, as ``<router>:port_id=<port>``
# Actions on an existing object that must not overtake each other.
_CHANGING = (Action.UPDATE, Action.SUSPEND, Action.RESUME)


def may_land_late(row: Resource) -> bool:
    """Return whether a request about the row, other than a create or delete, may take effect late.

    Until then it must not be sent again, or followed by another one.
    """
    snapshots = row.action is Action.SNAPSHOT or (
        row.action is Action.DELETE and row.deletion_policy == DeletionPolicy.SNAPSHOT
    )
    return row.action in _CHANGING or snapshots


class StackRows:
    """A read-only snapshot of a stack and its resources."""

    def __init__(self, ports: Ports, stack: Stack, rows: Iterable[Resource]) -> None:
        self.ports = ports
        self.stack = stack
        self.rows: dict[str, Resource] = {row.id: row for row in rows}
        self.current: dict[str, Resource] = {
            row.name: row for row in self.rows.values() if row.replaced_by is None
        }
        # Names of the resources that the operation in progress keeps. None: it keeps all.
        self.desired_names: frozenset[str] | None = None
        # New properties by row id, during the update of a type with shared parts.
        self.targets: dict[str, Mapping[str, Any]] = {}
        self.signals: Mapping[str, Sequence[Signal]] = {}  # for resource types, by row id
        # For creation policies, by row id: success by signal id. The latest report counts.
        self.creation_signals: Mapping[str, Mapping[str, bool]] = {}
        self._stored_signals: Mapping[str, StoredSignal] = {}
        self.hook_releases: Sequence[StoredSignal] = ()  # signals that clear hooks
        self.settled: SettledRows | None = None  # the rows that the last driver left, if these are
        self._input: Input | None = None
        self._set_back: dict[str, float] = {}
        self._shared: tuple[Stack, StackFacts, SignalCredentials] | None = None

    async def input(self) -> Input:
        """Return the input in force."""
        stack_input = self.held(self.stack.input_id)
        if stack_input is None:
            self._input = stack_input = await self.ports.store.input(self.stack.input_id)
        return stack_input

    def started_at(self, row: Resource, now: float) -> float:
        """Return when the action of a row started.

        After a clock was set back, that is when the engine saw it first, so that an action does not
        wait for as long as the clock was set back.
        """
        started_at = row.action_started_at or now
        if started_at > now:
            started_at = self._set_back.setdefault(row.id, now)
        return min(started_at, now)

    def hold(self, stack_input: Input | None) -> None:
        """Cache an input, so that it is not read from the store."""
        self._input = stack_input

    def held(self, input_id: str) -> Input | None:
        """Return that input, if it is cached."""
        return self._input if self._input is not None and self._input.id == input_id else None

    def shared_by_calls(self) -> tuple[StackFacts, SignalCredentials]:
        """Return the parts that all calls of types share as long as the stack stays the same."""
        if self._shared is None or self._shared[0] is not self.stack:
            stack = self.stack
            facts = StackFacts(
                stack.id,
                stack.name,
                stack.project_id,
                stack.user_project_id,
                stack.tags,
                self.ports.region,
            )
            self._shared = stack, facts, self.ports.signallers.of(stack)
        return self._shared[1:]

    @property
    def events_to_keep(self) -> int:
        """Return the configured number, or more for a stack with many resources."""
        return max(self.ports.limits.events_per_stack, 20 * len(self.rows))

    async def load_signals(self) -> None:
        """Load new signals, and forget deleted ones."""
        self._hold(await self.ports.store.signals(self.stack.id, self._stored_signals))

    async def load_signals_of(self, resource_id: str) -> None:
        """Read the signals of one resource only."""
        self._hold(await self.ports.store.signals(self.stack.id, resource_id=resource_id))

    async def load_agenda(self) -> list[Operation]:
        """Load the signals, too; return the open operations, oldest first."""
        signals, open_ = await self.ports.store.agenda(self.stack.id, self._stored_signals)
        self._hold(signals)
        return list(open_)

    def _hold(self, signals: Sequence[StoredSignal]) -> None:
        self._stored_signals = {stored.id: stored for stored in signals}
        by_resource: dict[str, list[Signal]] = defaultdict(list)
        releases = []
        creations: dict[str, dict[str, bool]] = defaultdict(dict)
        for stored in signals:
            if UNSET_HOOK in stored.details:
                releases.append(stored)
            elif CREATION_SIGNAL in stored.details:
                unique_id, success = stored.details[CREATION_SIGNAL]
                creations[stored.resource_id][unique_id] = success
            else:
                by_resource[stored.resource_id].append(
                    Signal(stored.id, stored.received_at, stored.details)
                )
        self.signals, self.hook_releases = by_resource, releases
        self.creation_signals = creations

    @property
    def keeps_nothing(self) -> bool:
        """Return whether the operation in progress removes all resources."""
        return self.desired_names is not None and not self.desired_names

    def stays(self, row: Resource) -> bool:
        """Return whether the operation in progress keeps a resource."""
        is_desired = self.desired_names is None or row.name in self.desired_names
        return is_desired and row.replaced_by is None and row.action is not Action.DELETE

    def loses_an_end(self, row: Resource) -> bool:
        """Return whether the id of a link names an object that the operation removes."""
        ends = set(_BETWEEN_ENDS.split(row.physical_id or "")) - {row.physical_id}
        return bool(ends) and any(
            other.physical_id in ends and not other.external and not self.stays(other)
            for other in self.rows.values()
        )

    async def rename(self, moves: Mapping[str, str]) -> tuple[Resource, ...]:
        """Apply moves to the rows in memory; return the rows as they were.

        ``moves`` has new names by present name. :meth:`restore` undoes it.
        """
        if not moves:
            return ()
        rows = tuple(self.rows.values())
        input_id = self.stack.input_id
        changed = await self.ports.workers.compute(lambda: tuple(moved(rows, moves, input_id)))
        before = tuple(self.rows[row.id] for row in changed)
        self.restore(changed)
        return before

    def restore(self, rows: Iterable[Resource]) -> None:
        """Replace rows in memory only."""
        self.rows.update((row.id, row) for row in rows)
        self.current = {row.name: row for row in self.rows.values() if row.replaced_by is None}

    def discard(self, rows: Iterable[Resource]) -> None:
        """Remove rows that are not stored from memory."""
        for row in rows:
            self.rows.pop(row.id, None)
        self.restore(())

    def type_of(self, row: Resource) -> ResourceType | None:
        """Return the type of a recorded row; None if this service no longer has it."""
        type_ = self.ports.types.find(row.implementation)
        if row.nested_id is not None and not isinstance(type_, NestingType):
            return None  # a template implements the type of that name
        return type_

    def reference_of(self, row: Resource) -> Any:
        """Return the value of ``get_resource`` for a recorded row."""
        return row.attributes.get(REFERENCE, row.physical_id)


async def stack_rows_at(ports: Ports, stack: Stack, tree: TreeState | None) -> StackRows:
    """Return the rows of a stack in the state of a tree, or else in that of the stack."""
    state = (stack.fencing_token,) if tree is None else tree.state_of(stack.id)
    settled = None if state is None else ports.rows.at(stack.id, state[0])
    rows = settled.rows if settled else await ports.store.resources(stack.id)
    found = StackRows(ports, stack, rows)
    found.settled = settled
    return found


class Session(StackRows):
    """A stack that this engine owns."""

    def __init__(self, ports: Ports, stack: Stack, rows: Iterable[Resource]) -> None:
        super().__init__(ports, stack, rows)
        changing = (
            row.id
            for row in self.rows.values()
            if row.status is Status.IN_PROGRESS
            and may_land_late(row)
            # A restart of the local cloud ends all requests that were sent before it.
            and (row.action_started_at or 0.0) >= ports.limits.cloud_since
        )
        # Send times, by row id, of the last change whose response is unknown.
        self.unanswered = ports.orphaned_calls.unanswered(stack, changing, ports.clock.now())
        self._since = ports.clock.now()
        self._intents: dict[str, Event] = {}  # events of started actions, not committed yet, by row
        self._announced: list[Message] = []  # notifications for the next commit
        self.transitions = Transitions(ports.clock, ports.ids)
        self.unchanged: Unchanged | None = None  # resources that the last plan did not change
        # Id of the operation that started here: no other engine has carried out a part of it.
        self.started_operation_id: str | None = None
        self.client_token: str | None = None  # of the operation; all its events have it
        self.masking = Masking()  # hides values of hidden parameters in texts
        # Without it events show no properties: an operation may end before its input is evaluated.
        self._has_masking = False
        self._exports: tuple[Export, ...] | None = None
        # Starts the driver of a nested stack whose operation an earlier engine has recorded.
        self.wake: Callable[[str], None] = lambda stack_id: None

    @classmethod
    def driving(cls, ports: Ports, stack: Stack, rows: Iterable[Resource]) -> Session:
        """Create the session of a driver, and charge its computations to the stack's project."""
        project.set(stack.project_id)
        ports.evaluations.masks.drive(stack.id)
        return cls(ports, stack, rows)

    def mask(self, masking: Masking) -> None:
        """Mask these values, too, in all texts and events from now on."""
        self.masking |= masking
        self._has_masking = True

    def mask_passed(self, type_: ResourceType | None, properties: Mapping[str, Any]) -> None:
        """Mask the values of properties that are hidden parameters of a nested template."""
        if values := hidden_in(type_, properties):
            self.mask(Masking(values))

    def _masked(
        self,
        stack: Stack | None,
        resources: Sequence[Resource],
        events: Sequence[Event],
        operations: Sequence[Operation],
    ) -> tuple[Stack | None, list[Resource], list[Event], list[Operation]]:
        """Return the records with values of hidden parameters masked in all texts."""
        masking = self.masking
        return (
            None if stack is None else masked_reason(stack, masking),
            [masked_reason(row, masking) for row in resources],
            [masked_event(event, masking) for event in events],
            [masked_reason(operation, masking) for operation in operations],
        )

    def _intended(self, resources: Sequence[Resource], dropped: Sequence[str]) -> list[Event]:
        """Remove and return the intended starts of the actions on rows."""
        if not self._intents:
            return []
        started = [self._intents.pop(row.id, None) for row in resources]
        if dropped:
            started += [self._intents.pop(row_id, None) for row_id in dropped]
        return [event for event in started if event is not None]

    def _completed(self, events: Sequence[Event]) -> Sequence[Event]:
        if self.client_token is not None:
            events = [replace(event, client_token=self.client_token) for event in events]
        if not self._has_masking:
            events = [replace(event, properties=None) for event in events]
        return events

    def new_row(self, name: str, type_name: str = "", **columns: Any) -> Resource:
        """Return the row of a new resource; it is not stored yet."""
        now = self.ports.clock.now()
        return Resource(
            id=self.ports.ids.uuid(),
            stack_id=self.stack.id,
            name=name,
            type_name=type_name,
            token=self.ports.ids.token(),
            created_at=now,
            updated_at=now,
            **columns,
        )

    def is_answered(self, row: Resource) -> bool:
        """Return whether the previous engine had the response to the create in progress."""
        creating = (row.action, row.status) == (Action.CREATE, Status.IN_PROGRESS)
        before = max(row.asked, default=0.0) < self._since
        return self.stack.was_released and creating and before

    def intend(self, started: Event) -> None:
        """Add the start of an action to the next commit of its row.

        Only for actions that call no service: if the engine dies before that commit, nothing has
        happened.
        """
        assert started.resource_id is not None
        self._intents[started.resource_id] = started

    def export(self, exports: tuple[Export, ...] | None) -> None:
        """Replace the exports of the stack with the next commit; None leaves them unchanged."""
        self._exports = exports

    async def tell_intent(self, row: Resource) -> None:
        """Commit an intended start, before a wait that users can observe."""
        if row.id in self._intents:
            await self.commit(resources=[row])

    def announce(self, resizing: Resizing) -> None:
        """Add a notification about the size of a group to the next commit."""
        id_, now = self.ports.ids.uuid(), self.ports.clock.now()
        masked = replace(resizing, message=self.masking.text(resizing.message))
        self._announced.append(resizing_notification(self.stack, masked, id_, now))

    async def commit(
        self,
        *,
        stack: Stack | None = None,
        resources: Sequence[Resource] = (),
        dropped: Sequence[str] = (),
        dropped_signals: Sequence[str] = (),
        events: Sequence[Event] = (),
        operations: Sequence[Operation] = (),
        inputs: Sequence[Input] = (),
        created: Sequence[Stack] = (),
    ) -> None:
        """Commit the changes, then apply them to the rows in memory.

        Raises :class:`FencedError`, and :class:`stoker.engine.model.interfaces.StoreError` for any
        other failure. After that the stored state is unknown, and the turn of the driver ends.
        """
        for row in resources:
            if row.data and stack is None and "user_id" in row.data:
                stack = self._with_user_project(row)
        events = self._completed([*self._intended(resources, dropped), *events])
        if self.masking:
            stack, resources, events, operations = self._masked(
                stack, resources, events, operations
            )
        puts: list[AnyRecord] = [] if stack is None else [stack]
        puts += [*created, *inputs, *operations, *resources, *events, *self._announced]
        if self._exports is not None:
            puts.append(Exports(self.stack.id, self._exports))
        self._announced.clear()
        drops: list[Key[AnyRecord]] = []
        if dropped or dropped_signals:
            drops += [Key(Resource, row_id) for row_id in dropped]
            drops += [Key(StoredSignal, signal_id) for signal_id in dropped_signals]
        await self.record(puts, drops, acquires=[new.id for new in created] if created else ())
        self._exports = None
        if stack is not None:
            self.stack = stack
            self.ports.evaluations.masks.note(stack)
        for row in resources:
            self.rows[row.id] = row
            if row.replaced_by is None:
                self.current[row.name] = row
        for row_id in dropped:
            gone = self.rows.pop(row_id, None)
            if gone is not None and self.current.get(gone.name) is gone:
                del self.current[gone.name]

    async def record(
        self,
        puts: Sequence[AnyRecord] = (),
        drops: Sequence[Key[AnyRecord]] = (),
        *,
        acquires: Sequence[str] = (),
    ) -> None:
        """Write records that the session does not hold. Raises as :meth:`commit`."""
        change = OwnerChange(self.stack.id, self.stack.fencing_token, puts, drops, acquires)
        try:
            await self.ports.store.commit(change)
        except ENDS_TURN:
            raise
        except Exception as error:
            require_machine(error)
            raise StoreError(fault_reason(error), passing=False) from error

    async def record_software(self, change: SoftwareChange) -> None:
        """Write the software of a resource. Raises as :meth:`commit`."""
        await self.record(*software_records(change))

    def _with_user_project(self, row: Resource) -> Stack | None:
        """Return the stack with the project of its stack users if this user is the first one.

        It is committed with the row, since the resource may wait for a signal of that user.
        """
        project = row.data.get("project_id")
        if project is None or project == self.stack.user_project_id:
            return None
        return replace(self.stack, user_project_id=project)
