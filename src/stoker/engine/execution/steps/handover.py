"""Hands over what an object and its replacement cannot both have, such as an address.

A replacement is made before the object that it replaces goes. Types that :class:`Releases` free
such things first, and take them again where the replacement goes and the object stays. Which row
replaces which is on record before either happens, and both can be repeated: who finds a row that
is being made, after a death at any point, releases its predecessor again.
"""

from __future__ import annotations

from collections import defaultdict

from stoker.engine.execution.calls.actions import ActionFailedError, ResourceActions
from stoker.engine.execution.calls.type_caller import TypeCall
from stoker.engine.execution.session import Session
from stoker.engine.model.records import Action, Resource, Status
from stoker.kernel.errors import RequestError
from stoker.schema.resource_type import ManagedType, Releases, can
from stoker.template.definition import DeletionPolicy


class ReplacementHandover:
    """The replacements of one operation."""

    def __init__(self, session: Session, actions: ResourceActions) -> None:
        self._session = session
        self._actions = actions
        self._replaced: dict[str, list[str]] | None = None

    async def release(self, new: Resource, old: Resource | None = None) -> None:
        """Free what a row that is being made needs of those that it replaces.

        ``old`` is the one if the caller knows. Raises :class:`ActionFailedError` for ``new``.
        """
        if new.physical_id is not None:
            return  # it has all that it needs
        for row in [old] if old is not None else self._before(new):
            try:
                await self._released(row, new)
            except RequestError as refused:
                reason = f"what it replaces does not make way: {refused.message}"
                raise ActionFailedError(await self._actions.fail(new, reason), reason) from refused

    async def reclaim(self, old: Resource, new: Resource | None = None) -> Resource:
        """Give ``old``, which stays, what it freed for a row that goes; returns ``old``.

        ``new`` is that row if the caller knows. Raises :class:`ActionFailedError` for ``old``.
        """
        type_ = self._session.type_of(old)
        if (
            not isinstance(type_, ManagedType)
            or not can(type_, Releases)
            or old.physical_id is None
        ):
            return old
        newer = [row for row in self._before(old) if row.created_at > old.created_at]
        for row in [new] if new is not None else newer:
            try:
                await self._released(row, old)
                old = await self._actions.settle(
                    old, TypeCall(type_, type_.reclaim, old.properties)
                )
            except RequestError as refused:
                reason = f"what it freed cannot be taken again: {refused.message}"
                raise ActionFailedError(await self._actions.fail(old, reason), reason) from refused
        return old

    async def _released(self, row: Resource, successor: Resource) -> None:
        """Release the object of ``row``; if that deletes it, only if the successor needs it.

        A row without an object, or with one that is not ours, holds nothing.
        """
        type_ = self._session.type_of(row)
        gone = (row.action, row.status) == (Action.DELETE, Status.COMPLETE)
        if row.external or gone or row.action is Action.INIT:
            return
        if isinstance(type_, ManagedType) and can(type_, Releases):
            if type_.release_deletes and row.deletion_policy == DeletionPolicy.RETAIN:
                return
            row = await self._actions.adopt_lost(row, type_)
            if type_.release_deletes and not await self._actions.obstructs(row, successor):
                return
            await self._actions.settle(row, TypeCall(type_, type_.release, row.properties))

    def _before(self, new: Resource) -> list[Resource]:
        """The rows that a row replaces, among those that were there when the operation began."""
        if self._replaced is None:
            self._replaced = defaultdict(list)
            for row in self._session.rows.values():
                if row.replaced_by is not None:
                    self._replaced[row.replaced_by].append(row.id)
        rows = self._session.rows
        return [rows[row_id] for row_id in self._replaced.get(new.id, ()) if row_id in rows]
