"""Hands over parts that an object and its replacement cannot both have, such as an address.

A replacement is created before the object that it replaces is deleted. Types that :class:`Releases`
free such things first, and reclaim them if the replacement is deleted and the object stays. Which
row replaces which is on record before either happens, and both can be repeated: an engine that
finds a row in creation, after a death at any point, releases its predecessor again. Called by the
apply step. Tested by tests/replacement.
"""

from __future__ import annotations

from collections import defaultdict

from stoker.engine.execution.calls.context import OperationContext
from stoker.engine.execution.calls.create_recovery import find_lost
from stoker.engine.execution.calls.resource_run import ResourceRun
from stoker.engine.execution.calls.type_caller import TypeCall
from stoker.engine.execution.calls.vacancy import is_obstructed
from stoker.engine.model.records import Action, Resource, Status
from stoker.kernel.errors import RequestError
from stoker.schema.resource_type import ManagedType, Releases, can
from stoker.template.definition import DeletionPolicy


class ReplacementHandover:
    """The replacements of one operation."""

    def __init__(self, context: OperationContext) -> None:
        self._context = context
        self._session = context.session
        self._replaced: dict[str, list[str]] | None = None

    async def release(self, new: ResourceRun, old: Resource | None = None) -> None:
        """Free the parts that a resource in creation needs of those that it replaces.

        ``old`` is the replaced row, if the caller knows it. Otherwise an object of ``new`` is
        searched for first, whose create was cut off. Raises :class:`ActionFailedError` for ``new``.
        """
        type_ = self._session.type_of(new.row)
        if old is None and isinstance(type_, ManagedType):
            await find_lost(new, type_)
        if new.row.physical_id is not None:
            return  # its object exists, so it has these parts
        for row in [old] if old is not None else self._before(new.row):
            try:
                await self._released(row, new)
            except RequestError as refused:
                await new.fail(f"what it replaces does not make way: {refused.message}")

    async def reclaim(self, old: ResourceRun, new: Resource | None = None) -> None:
        """Return to ``old``, which stays, the parts that it freed for a row that is removed.

        ``new`` is that row, if the caller knows it. Raises :class:`ActionFailedError` for ``old``.
        """
        type_ = self._session.type_of(old.row)
        if not isinstance(type_, ManagedType) or not can(type_, Releases):
            return
        if old.row.physical_id is None:
            return
        newer = [row for row in self._before(old.row) if row.created_at > old.row.created_at]
        for row in [new] if new is not None else newer:
            try:
                await self._released(row, old)
                await old.settle(TypeCall(type_, type_.reclaim, old.row.properties))
            except RequestError as refused:
                await old.fail(f"what it freed cannot be taken again: {refused.message}")

    async def _released(self, row: Resource, successor: ResourceRun) -> None:
        """Release the parts of the object of ``row``.

        A type whose release deletes the object is only called if the successor needs that. A row
        without an object, or with an external one, has no parts.
        """
        type_ = self._session.type_of(row)
        gone = (row.action, row.status) == (Action.DELETE, Status.COMPLETE)
        if row.external or gone or row.action is Action.INIT:
            return
        if isinstance(type_, ManagedType) and can(type_, Releases):
            if type_.release_deletes and row.deletion_policy == DeletionPolicy.RETAIN:
                return
            old = ResourceRun(self._context, row)
            await find_lost(old, type_)
            if type_.release_deletes and not await is_obstructed(successor, old.row):
                return
            await old.settle(TypeCall(type_, type_.release, old.row.properties))

    def _before(self, new: Resource) -> list[Resource]:
        """Return the rows that a row replaces, among those from before the operation."""
        if self._replaced is None:
            self._replaced = defaultdict(list)
            for row in self._session.rows.values():
                if row.replaced_by is not None:
                    self._replaced[row.replaced_by].append(row.id)
        rows = self._session.rows
        return [rows[row_id] for row_id in self._replaced.get(new.id, ()) if row_id in rows]
