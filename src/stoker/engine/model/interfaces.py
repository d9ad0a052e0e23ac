"""What the engine needs from the world, as Protocols. Whoever implements them knows the engine;
the engine knows none of them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import Any, Protocol

from msgspec import Struct, field

from stoker.engine.model.change_sets import (
    NO_CHANGE_SETS,
    ChangeSetChange,
    ChangeSetInside,
    Detection,
    Export,
    KeepsChangeSets,
    Protection,
)
from stoker.engine.model.clouds import (
    Clouds,
    Faults,
    FetchTemplate,
    SignalCredentialsFactory,
    Types,
    Workers,
    fetch_nothing,
)
from stoker.engine.model.evaluation_cache import EvaluationCache
from stoker.engine.model.limits import Amount, Limits
from stoker.engine.model.orphaned_calls import OrphanedCalls
from stoker.engine.model.records import (
    AcquiredStack,
    Action,
    Event,
    Input,
    Message,
    Operation,
    OperationStatus,
    Queued,
    Request,
    Resource,
    Stack,
    StoredSignal,
    TreeState,
)
from stoker.engine.model.requests import Caller, EventQuery, StackQuery
from stoker.engine.model.snapshots import Snapshot, SnapshotPart, SnapshotReads
from stoker.engine.model.software import (
    NO_SOFTWARE,
    KeepsSoftware,
    SoftwareChange,
    SoftwareInside,
)
from stoker.engine.model.watches import NO_WATCHES, KeepsWatches, WatchChange, WatchInside
from stoker.kernel.clock import Clock
from stoker.kernel.errors import MachineError
from stoker.kernel.ids import Ids
from stoker.schema.helpers import NO_HELPERS, Helpers
from stoker.template.environment.environment import EMPTY, Environment


class FencedError(Exception):
    """Another engine has taken the stack over: stop working on it, write nothing more."""


class Lease(Protocol):
    """What tells how long an engine may drive its stacks."""

    def require(self) -> None:
        """Raise :class:`FencedError` where others may have taken the engine's stacks over by
        now.
        """


class PermanentLease:
    """Of the only engine: there is nobody who could take anything over."""

    def require(self) -> None:
        """Nothing."""


class StoreError(Exception):
    """The store failed; whether a write was done may be unknown.

    What is in memory counts no more: whoever drives a stack ends, and starts again from what is
    stored. ``passing`` tells of a database that is locked, full or out of reach; anything else
    may fail again each time. ``is_full`` says that the disk of the database is.
    """

    def __init__(self, reason: str, *, passing: bool, is_full: bool = False) -> None:
        super().__init__(reason)
        self.passing = passing
        self.is_full = is_full


ENDS_TURN = (FencedError, StoreError, MachineError)
"""What ends the turn of a driver wherever it occurs. It is never an answer of a cloud, so no
resource may fail because of it: code that handles any exception lets these pass.
"""


def is_passing(error: Exception) -> bool:
    """Return whether work that ended with this error may succeed later, without a change."""
    return isinstance(error, MachineError) or (isinstance(error, StoreError) and error.passing)


class TransactionReader(SoftwareInside, WatchInside, ChangeSetInside, Protocol):
    """What a guard may look at: rows in the transaction that it guards, which nobody changes
    before that ends.
    """

    def stack(self, stack_id: str) -> Stack | None:
        """One stack."""

    def queue(self, stack_id: str) -> Sequence[Queued]:
        """The operations of a stack that are not final, oldest first."""

    def tree(self, stack_id: str) -> TreeState:
        """How a stack and those nested in it stand."""

    def has_resource(self, resource_id: str) -> bool:
        """Whether there is a resource row."""

    def signals_of(self, resource_id: str) -> Amount:
        """The signals that a resource has; ask whether there is the resource first."""

    def signals_size_of_stack(self, stack_id: str) -> int:
        """Bytes of the signals that the resources of a stack have."""

    def count_stacks(self, project_id: str) -> int:
        """How many live stacks a project has, nested ones aside."""

    def may_act_by(self, credentials: Mapping[str, Any]) -> bool:
        """Whether a stack may be recorded that acts by credentials: nobody has given them back."""

    def count_snapshots(self, stack_id: str) -> int:
        """How many snapshots a stack has; ask for the stack first, which locks it."""

    def has_snapshot(self, snapshot_id: str) -> bool:
        """Whether there is the snapshot."""


Guard = Callable[[TransactionReader], None]
"""Looks once more, in the transaction that writes a change, and raises what refuses it.

It runs on the store's thread: it computes nothing and waits for nothing.
"""


class PublicChange(Struct, frozen=True):
    """What anybody may add to a stack, in one transaction: requests, signals, and their events.

    Configs and deployments that belong to no stack come with the empty text as its id.
    """

    stack_id: str
    stacks: tuple[Stack, ...] = ()
    """New ones."""
    inputs: tuple[Input, ...] = ()
    operations: tuple[Operation, ...] = ()
    events: tuple[Event, ...] = ()
    signals: tuple[StoredSignal, ...] = ()
    snapshots: tuple[Snapshot, ...] = ()
    """New ones."""
    taken: tuple[str, ...] = ()
    """Ids of those of the new stacks that this engine takes over at once."""
    software: SoftwareChange = NO_SOFTWARE
    watches: WatchChange = NO_WATCHES
    change_sets: ChangeSetChange = NO_CHANGE_SETS
    protections: tuple[Protection, ...] = ()
    detections: tuple[Detection, ...] = ()
    guards: tuple[Guard, ...] = ()
    """Run in this order, inside the transaction; the first that raises refuses the change."""


class OwnerChange(Struct, frozen=True):
    """What only the owner of a stack may write: all of it, in one transaction, and only while the
    stack's fencing token is still this one.
    """

    stack_id: str
    fencing_token: int
    stacks: tuple[Stack, ...] = ()
    """The stack, but for its fencing token, and new ones nested in it."""
    inputs: tuple[Input, ...] = ()
    operations: tuple[Operation, ...] = ()
    events: tuple[Event, ...] = ()
    resources: tuple[Resource, ...] = ()
    dropped_resources: tuple[str, ...] = ()
    """Ids; the signals of these resources go as well."""
    dropped_signals: tuple[str, ...] = ()
    snapshots: tuple[Snapshot, ...] = ()
    snapshot_parts: tuple[SnapshotPart, ...] = ()
    """Of the stack's own snapshots, or of those of a stack around it."""
    dropped_snapshots: tuple[str, ...] = ()
    dropped_snapshot_parts: tuple[str, ...] = ()
    taken: tuple[str, ...] = ()
    notifications: tuple[Message, ...] = ()
    """Besides those that follow from the events of stacks."""
    software: SoftwareChange = NO_SOFTWARE
    watches: WatchChange = NO_WATCHES
    exports: tuple[Export, ...] | None = None
    """All that the stack exports from now on; None leaves that as it is."""


Change = PublicChange | OwnerChange


COUNTED_AT_ONCE = 3
"""So many take-ups in a row are nothing to worry about."""


class TakesOver(Protocol):
    """Who drives a stack, and what becomes of one that nobody can drive."""

    @property
    def latency(self) -> float:
        """The seconds that it lately took this process to write a change; 0 at rest. Who is slow
        takes few more stacks over.
        """

    async def take(self, stack_id: str) -> AcquiredStack | None:
        """Raise the stack's token and return the stack: from now on only this engine writes.

        None where there is no operation that is not final: to take such a stack over would disturb
        who relies on its rest.

        It is counted how often that happens for the same operation without an event in between,
        up to :data:`COUNTED_AT_ONCE`; further ones are counted by :meth:`count_take_up`.
        """

    async def count_take_up(self, stack: Stack) -> None:
        """Count one more take-up. Raises :class:`FencedError`."""

    async def forget_take_ups(self, stack: Stack) -> None:
        """The stack is being driven well: begin to count anew."""

    async def hand_over(self, stack: Stack) -> None:
        """Let go of a stack about which no request is under way. Raises :class:`FencedError`."""

    async def tree(self, stack_id: str) -> TreeState:
        """How a stack and those nested in it stand."""

    async def count_resources(self, root_id: str, besides: str) -> int:
        """How many resources the live stacks of a tree have, the stack ``besides`` left out."""

    async def values_size(self, root_id: str, stack_id: str) -> tuple[int, int]:
        """Bytes of the values that the resources of a stack hold, and of those that the other live
        stacks of its tree hold.
        """

    async def give_up(self, stack_id: str, reason: str, now: float) -> None:
        """End as failed the operations of a stack, whatever its rows hold; raises its token.

        For what no engine could bring to an end: it reads nothing that may be unreadable.
        """


class Observer(Protocol):
    """Is told of commits, whoever waits for them."""

    def committed(self, change: Change, *, certain: bool) -> None:
        """A change was written, or, if that is not certain, may have been. Returns at once."""


class Store(
    TakesOver,
    KeepsSoftware,
    KeepsWatches,
    KeepsChangeSets,
    SnapshotReads,
    Protocol,
):
    """Durable rows. Reads see every commit that has returned. All methods raise
    :class:`StoreError` when the database fails.
    """

    def observe(self, observer: Observer) -> None:
        """Tell the observer of every change from now on."""

    async def commit(self, change: Change) -> None:
        """Write a change; changes of one turn of the loop share a transaction.

        Raises :class:`FencedError` when the stack's fencing token is no longer the change's,
        :class:`stoker.kernel.errors.AlreadyExistsError` for a second live stack of one name, and
        whatever the change's guard raises.
        """

    async def stack(self, stack_id: str) -> Stack | None:
        """One stack by id, deleted ones included."""

    async def find_stack(self, project_id: str | None, name: str) -> Stack | None:
        """The live stack of a name; a project of None searches all.

        Nested ones are found in the project of their stack users only.
        """

    async def stacks(self, project_id: str | None, query: StackQuery) -> Sequence[Stack]:
        """Stacks of a project (None: of all), filtered, sorted and paged."""

    async def count_stacks(self, project_id: str | None, query: StackQuery) -> int:
        """How many stacks match, pages aside."""

    async def tidy(self, stack_id: str, events: int) -> None:
        """Drop what nobody needs any more: inputs that neither the stack, nor a snapshot, nor an
        operation that has not ended refers to, and all but the newest ``events`` events.
        """

    async def children(self, stack_id: str) -> Sequence[Stack]:
        """The live nested stacks of a stack."""

    async def input(self, input_id: str) -> Input:
        """One input."""

    async def operations(self, stack_id: str) -> Sequence[Operation]:
        """The operations of a stack that are not final, oldest first."""

    async def queue(self, stack_id: str) -> Sequence[Queued]:
        """As :meth:`operations`, without what takes long to read."""

    async def operation(self, operation_id: str) -> Operation | None:
        """One operation."""

    async def parts(self, stack_id: str, parent_operation: str) -> Sequence[Queued]:
        """The operations of a stack that are part of one of its parent, ended or not, by age."""

    async def operation_status(self, operation_id: str) -> tuple[OperationStatus, str] | None:
        """Status and reason of one operation."""

    async def unfinished_stacks(self) -> Sequence[str]:
        """Ids of the stacks that have an operation that is not final."""

    async def resources(self, stack_id: str) -> Sequence[Resource]:
        """All resource rows of a stack, replaced ones included, oldest first."""

    async def events(self, stack_ids: Sequence[str], query: EventQuery) -> Sequence[Event]:
        """Events of stacks, filtered, sorted and paged."""

    async def event(self, stack_id: str, event_id: str) -> Event | None:
        """One event."""

    async def signals(
        self,
        stack_id: str,
        known: Mapping[str, StoredSignal] = MappingProxyType({}),
        resource_id: str | None = None,
    ) -> Sequence[StoredSignal]:
        """The signals of a stack's resources, or of one of them, oldest first; those ``known`` by
        id as given.
        """

    async def agenda(
        self, stack_id: str, known: Mapping[str, StoredSignal]
    ) -> tuple[Sequence[StoredSignal], Sequence[Operation]]:
        """What a driver looks at: :meth:`signals` and :meth:`operations`, of one moment."""


class Dispatcher(Protocol):
    """Starts drivers of stacks and wakes them, as the commits ask for that it observes. What asks
    for more calls these methods, which return at once.
    """

    def wake(self, stack_id: str) -> None:
        """There is an operation or a signal for this stack in the store."""

    def wake_parent(self, parent_id: str, stack_id: str) -> None:
        """An operation of a nested stack has ended: its parent waits for that, and nobody else."""


class DeferredAuth(Protocol):
    """Credentials for work that goes on after a request's token has expired. Async."""

    async def grant(self, caller: Caller) -> Mapping[str, Any]:
        """Credentials to be kept, encrypted, with the stack (for instance a trust).

        The transaction that records the stack asks :meth:`TransactionReader.may_act_by`.
        """

    def forget(self, credentials: Mapping[str, Any]) -> None:
        """They were given back meanwhile: grant others next time."""

    async def revoke(self, credentials: Mapping[str, Any]) -> None:
        """Give credentials back: the stack is gone, or about to be."""


class Policy(Protocol):
    """Which callers may do what."""

    def allows(self, rule: str, caller: Caller) -> bool:
        """Whether a rule, as ``resource_types:OS::Nova::Flavor``, lets the caller through."""


class NoPolicy:
    """Everybody may do everything."""

    def allows(self, rule: str, caller: Caller) -> bool:
        """Yes."""
        return True


class Ports(Struct, frozen=True):
    """Everything outside that the engine works with."""

    store: Store
    types: Types
    workers: Workers
    clouds: Clouds
    faults: Faults
    deferred: DeferredAuth
    signallers: SignalCredentialsFactory
    clock: Clock
    ids: Ids
    limits: Limits = field(default_factory=Limits)
    policy: Policy = field(default_factory=NoPolicy)
    fetch_template: FetchTemplate = fetch_nothing
    region: str | None = None
    service_environment: Environment = EMPTY
    """That of the whole service, from its environment directory."""
    helpers: Helpers = NO_HELPERS
    """What computes the expressions and patterns of users."""
    kept: EvaluationCache = field(default_factory=EvaluationCache)
    """What the parts of the engine share of what they have evaluated."""
    lease: Lease = field(default_factory=PermanentLease)
    orphaned_calls: OrphanedCalls = field(default_factory=OrphanedCalls)
    """Calls of this process that are still running after their callers gave up."""

    def time_limit(self, stack: Stack) -> float:
        """Seconds that an operation on the stack may take."""
        return 60 * (stack.timeout_mins or self.limits.timeout_mins)

    def operation_on(
        self,
        stack: Stack,
        action: Action,
        request: Request,
        input_id: str | None = None,
        *,
        cancels: str | None = None,
        caller: Caller | None = None,
    ) -> Operation:
        """An operation that is accepted now, with the stack's time limit or the service's.

        The ``caller`` is named where the request may bear the token of a client.
        """
        now = self.clock.now()
        client = None if caller is None else caller.client
        return Operation(
            id=self.ids.uuid(),
            stack_id=stack.id,
            action=action,
            created_at=now,
            request=request,
            input_id=input_id,
            deadline=now + self.time_limit(stack),
            cancels=cancels,
            client_token=None if client is None else client.text,
            client_digest=None if client is None else client.digest,
        )
