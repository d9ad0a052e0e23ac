"""The engine as interfaces see it: operations, views and signals, each behind a Protocol.

This is all that ``api`` knows of the engine. Every method checks that what is asked for belongs
to the caller's project (admins see all) and raises the refusals of :mod:`stoker.kernel.errors`,
or :class:`stoker.kernel.diagnostics.DiagnosticError` for documents.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from stoker.engine.model.interfaces import Ports
from stoker.engine.model.requests import (
    Caller,
    EventQuery,
    ResourceQuery,
    StackQuery,
    StackRequest,
)
from stoker.engine.model.views import ChangeView, EventView, ResourceView, StackView
from stoker.engine.service.commands import Operations
from stoker.engine.service.lookup import Finder
from stoker.engine.service.queries import Views
from stoker.engine.service.signals import SignalService
from stoker.kernel.addresses import StackAddress
from stoker.kernel.diagnostics import Diagnostic
from stoker.template.definition import Output


class OffersOperations(Protocol):
    """What changes stacks, or shows what a change would do."""

    async def find(self, caller: Caller, name_or_id: str) -> StackAddress:
        """The address of a stack by name, id or ARN. Deleted stacks are found by id only."""

    async def create(self, caller: Caller, request: StackRequest) -> StackAddress:
        """Check everything, record the stack and its plan, start it, and return at once."""

    async def preview_create(
        self, caller: Caller, request: StackRequest
    ) -> tuple[StackView, Sequence[ResourceView]]:
        """What a create would make; nothing is recorded."""

    async def update(self, caller: Caller, address: StackAddress, request: StackRequest) -> None:
        """Accept an update, also while another operation is under way."""

    async def preview_update(
        self,
        caller: Caller,
        address: StackAddress,
        request: StackRequest,
        *,
        show_nested: bool = False,
    ) -> Sequence[ChangeView]:
        """The plan of an update, if asked for with its nested stacks; nothing is recorded."""

    async def beginning_with(self, pattern: str, names: Sequence[str]) -> Sequence[str]:
        """Those of the names that begin with what a regular expression of a user matches.

        One that is malformed, or takes too long, matches nothing.
        """

    async def delete(self, caller: Caller, address: StackAddress) -> None:
        """Start deleting the stack; raises NotFound when it is gone."""

    async def act(self, caller: Caller, address: StackAddress, action: str) -> None:
        """``cancel_update``; other actions are refused."""

    async def validate(
        self, caller: Caller, request: StackRequest, *, show_nested: bool = False
    ) -> tuple[Mapping[str, Any], Sequence[Diagnostic]]:
        """The description that the API's validate call answers, and warnings. Raises on errors."""

    async def mark_unhealthy(
        self, caller: Caller, address: StackAddress, name: str, *, unhealthy: bool, reason: str
    ) -> None:
        """Mark a resource so that the next update replaces it, or take the mark back."""


class OffersViews(Protocol):
    """What shows stacks, resources and events."""

    async def stack(
        self, caller: Caller, address: StackAddress, *, resolve_outputs: bool = True
    ) -> StackView:
        """One stack; deleted ones are shown by id."""

    async def stacks(self, caller: Caller, query: StackQuery) -> Sequence[StackView]:
        """Stacks of the caller's project, newest first, without parameters and outputs."""

    async def count_stacks(self, caller: Caller, query: StackQuery) -> int:
        """How many stacks match, pages aside."""

    async def template(self, caller: Caller, address: StackAddress) -> Any:
        """The stack's template as a parsed object."""

    async def environment(self, caller: Caller, address: StackAddress) -> Mapping[str, Any]:
        """The stack's stored environment."""

    async def files(self, caller: Caller, address: StackAddress) -> Mapping[str, str]:
        """The files that came with the template."""

    async def output(self, caller: Caller, address: StackAddress, key: str) -> Output:
        """One output with its value."""

    async def outputs(self, caller: Caller, address: StackAddress) -> Sequence[tuple[str, str]]:
        """Keys and descriptions of the outputs."""

    async def resources(
        self, caller: Caller, address: StackAddress, query: ResourceQuery
    ) -> Sequence[ResourceView]:
        """The resources of the stack, and of nested ones down to the depth asked for."""

    async def resource(
        self,
        caller: Caller,
        address: StackAddress,
        name: str,
        *,
        with_attributes: Sequence[str] = (),
    ) -> ResourceView:
        """One resource with its attributes."""

    async def metadata(self, caller: Caller, address: StackAddress, name: str) -> Mapping[str, Any]:
        """The metadata of a resource; also for the stack user of that resource."""

    async def events(
        self, caller: Caller, address: StackAddress, query: EventQuery
    ) -> Sequence[EventView]:
        """Events, oldest first unless the query says otherwise."""

    async def event(
        self, caller: Caller, address: StackAddress, name: str, event_id: str
    ) -> EventView:
        """One event of a resource with its properties."""


class OffersSignals(Protocol):
    """What lets servers and alarms call back."""

    async def signal(
        self, caller: Caller, address: StackAddress, name: str, details: Mapping[str, Any] | None
    ) -> None:
        """Store a signal, then return; it is applied afterwards, exactly once."""


class Service(Protocol):
    """The engine."""

    @property
    def operations(self) -> OffersOperations:
        """What changes stacks."""

    @property
    def views(self) -> OffersViews:
        """What shows them."""

    @property
    def signals(self) -> OffersSignals:
        """What lets servers call back."""


@dataclass(frozen=True, slots=True)
class EngineService:
    """The engine's own service."""

    operations: Operations
    views: Views
    signals: SignalService


def make_service(ports: Ports, notify: Callable[[str], None]) -> EngineService:
    """The engine on its ports; ``notify`` tells the dispatcher of a stack that has work."""
    finder = Finder(ports)
    return EngineService(
        Operations(ports, finder, notify),
        Views(ports, finder),
        SignalService(ports, finder, notify),
    )
