"""The ports of the engine: Protocols for everything outside that it works with.

The store is described in :mod:`stoker.engine.model.storage.store`, clouds in
:mod:`stoker.engine.model.clouds`. Implementations import these modules; the engine imports no
implementation. :class:`Ports` holds one of each and is passed to every part of the engine.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol

from msgspec import Struct, field

from stoker.engine.model.clouds import (
    Clouds,
    Faults,
    FetchTemplate,
    SignalCredentialsFactory,
    Workers,
    fetch_nothing,
)
from stoker.engine.model.evaluation_cache import EvaluationCache
from stoker.engine.model.limits import Limits
from stoker.engine.model.orphaned_calls import OrphanedCalls
from stoker.engine.model.records import Action, Operation, Request, Stack
from stoker.engine.model.requests import Caller
from stoker.engine.model.row_cache import RowCache
from stoker.engine.model.row_cache import SettledRows as SettledRows
from stoker.engine.model.row_cache import Unchanged as Unchanged
from stoker.engine.model.storage.changes import Change as Change
from stoker.engine.model.storage.changes import Guard as Guard
from stoker.engine.model.storage.changes import Key as Key
from stoker.engine.model.storage.changes import OwnerChange as OwnerChange
from stoker.engine.model.storage.changes import PublicChange as PublicChange
from stoker.engine.model.storage.store import COUNTED_AT_ONCE as COUNTED_AT_ONCE
from stoker.engine.model.storage.store import ENDS_TURN as ENDS_TURN
from stoker.engine.model.storage.store import FencedError as FencedError
from stoker.engine.model.storage.store import Observer as Observer
from stoker.engine.model.storage.store import Store as Store
from stoker.engine.model.storage.store import StoreError as StoreError
from stoker.engine.model.storage.store import is_passing as is_passing
from stoker.engine.model.storage.transaction import TransactionReader as TransactionReader
from stoker.kernel.clock import Clock
from stoker.kernel.ids import RandomIds
from stoker.schema.helpers import NO_HELPERS, Helpers
from stoker.template.definition import TypeRegistry
from stoker.template.environment.environment import EMPTY, Environment


class Lease(Protocol):
    """The right of an engine to drive its stacks, which may expire."""

    def require(self) -> None:
        """Raise :class:`FencedError` if another engine may have acquired the stacks by now."""


class PermanentLease:
    """The lease of the only engine."""

    def require(self) -> None:
        """Do nothing: no other engine can acquire a stack."""


class Dispatcher(Protocol):
    """Starts drivers of stacks and wakes them.

    It observes commits. These methods report everything else, and return without waiting.
    """

    def wake(self, stack_id: str) -> None:
        """Start or wake the driver: the store has an operation or a signal for the stack."""

    def wake_parent(self, parent_id: str, stack_id: str) -> None:
        """Wake the driver of the parent, because an operation of a nested stack has ended."""


class DeferredAuth(Protocol):
    """Credentials for work that continues after the token of a request has expired."""

    async def grant(self, caller: Caller) -> Mapping[str, Any]:
        """Return credentials, for instance a trust, to be stored encrypted with the stack.

        The transaction that records the stack checks ``TransactionReader.may_act_by``.
        """

    def forget(self, credentials: Mapping[str, Any]) -> None:
        """Grant others the next time, because these were revoked in the meantime."""

    async def revoke(self, credentials: Mapping[str, Any]) -> None:
        """Revoke credentials: the stack is gone, or about to be."""


class Policy(Protocol):
    """Decides about the permissions of callers."""

    def allows(self, rule: str, caller: Caller) -> bool:
        """Return whether a rule, as ``resource_types:OS::Nova::Flavor``, allows the caller."""


class NoPolicy:
    """A policy that allows everything."""

    def allows(self, rule: str, caller: Caller) -> bool:
        """Return True."""
        return True


class Verification(Protocol):
    """Receives differences between incremental and full results, which are faults of the service.

    Where there is one, each incremental result is computed in full as well, and the full one wins.
    """

    def report(self, stack_id: str, what: str, where: str) -> None:
        """Report that a result of a stack differs; ``where`` names the first difference."""


class Ports(Struct, frozen=True):
    """Everything outside of the engine that it works with."""

    store: Store
    types: TypeRegistry
    workers: Workers
    clouds: Clouds
    faults: Faults
    deferred: DeferredAuth
    signallers: SignalCredentialsFactory
    clock: Clock
    ids: RandomIds
    limits: Limits = field(default_factory=Limits)
    policy: Policy = field(default_factory=NoPolicy)
    fetch_template: FetchTemplate = fetch_nothing
    region: str | None = None
    service_environment: Environment = EMPTY  # from the service's environment directory
    helpers: Helpers = NO_HELPERS  # processes that compute expressions and patterns of users
    evaluations: EvaluationCache = field(default_factory=EvaluationCache)
    rows: RowCache = field(default_factory=RowCache)
    verification: Verification | None = None  # of incremental results, if that is wanted
    lease: Lease = field(default_factory=PermanentLease)
    orphaned_calls: OrphanedCalls = field(default_factory=OrphanedCalls)

    def forget_unused(self) -> None:
        """Drop cached evaluations and rows that were not used since the last call."""
        self.evaluations.forget_unused()
        self.rows.forget_unused()

    def time_limit(self, stack: Stack) -> float:
        """Return the seconds that an operation on the stack may take."""
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
        """Return a new operation, with the time limit of the stack or of the service.

        A ``caller`` is given if its request may have a client token.
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
