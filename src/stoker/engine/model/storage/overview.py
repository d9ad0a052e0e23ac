"""Reads across many rows: the search of a project, and the past operations of a stack."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Protocol

from msgspec import Struct

from stoker.engine.model.records import Action, OperationStatus, Status
from stoker.kernel.addresses import StackAddress


class SearchQuery(Struct, frozen=True):
    """A search in the live stacks of a project."""

    project_id: str
    text: str
    limit: int
    hidden_tags: tuple[str, ...] = ()  # stacks with one of these tags are left out


class Match(Struct, frozen=True):
    """A stack or a resource that a search found."""

    stack: StackAddress  # the stack itself, or the one with the resource
    path: tuple[str, ...]  # resources that lead from the outermost stack to this one
    root: StackAddress  # the outermost stack
    action: Action
    status: Status
    field: str  # the name of the matching field
    resource_name: str | None = None  # None: the stack itself was found
    resource_type: str = ""
    physical_id: str | None = None


class PastOperation(Struct, frozen=True):
    """An operation of a stack, with its course as events record it; times since the epoch."""

    id: str
    action: Action
    kind: str
    status: OperationStatus
    reason: str
    created_at: float
    started_at: float | None  # None: not started, or its events were removed
    ended_at: float | None
    counts: Mapping[str, int]  # resources by the last status in their events, as CREATE_COMPLETE


class OverviewReads(Protocol):
    """Reads across many rows."""

    async def search(self, query: SearchQuery) -> Sequence[Match]:
        """Return the stacks and resources that match, stacks first, newest first."""

    async def past_operations(
        self, stack_id: str, limit: int, before: str | None
    ) -> Sequence[PastOperation]:
        """Return operations of a stack, newest first; ``before`` is the id of a newer one."""
