"""Finds the stack that a caller names, and reveals nothing of other projects' stacks."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Sequence

from stoker.engine.execution.calls.hooks import hook_of
from stoker.engine.model.interfaces import Ports, Store
from stoker.engine.model.records import Resource, Stack
from stoker.engine.model.requests import Caller
from stoker.kernel.addresses import OWN_ID, StackAddress, parse_arn
from stoker.kernel.errors import (
    PHYSICAL_ID_AMBIGUITY,
    RESOURCE_NOT_FOUND,
    ForbiddenError,
    NotFoundError,
    ValidationError,
)
from stoker.kernel.values import replace

_END_PAUSES = [0.005 * 1.5**number for number in range(16)]  # seconds, seven in all


def _not_found(name: str, stack_id: str | None = None) -> NotFoundError:
    why = "No stack of this project has that name"
    if stack_id is not None:
        why += f' with the id "{stack_id[:255]}"'
    return NotFoundError(
        f'The Stack ({name[:255]}) could not be found. {why}; list them with "openstack stack list"'
    )


def row_of(rows: Iterable[Resource], name: str, stack: Stack) -> Resource:
    """Return the row of that name, or the one that had it before. Raises NotFoundError.

    Servers and signed URLs know a moved resource by the name that it had when they were made.
    """
    moved = None
    for row in rows:
        if row.name == name:
            return row
        if name in row.former_names:
            moved = row
    if moved is not None:
        return moved
    raise NotFoundError(
        f"The Resource ({name[:255]}) could not be found in Stack {stack.name}.", RESOURCE_NOT_FOUND
    )


def row_by_any_id(rows: Iterable[Resource], name_or_id: str, stack: Stack) -> Resource:
    """Return the row with a name, or of the object with an id.

    Raises NotFoundError, and ValidationError for an id that several resources of the stack have.
    """
    known = list(rows)
    found = [row for row in known if row.physical_id == name_or_id]
    if not found or any(row.name == name_or_id for row in known):
        return row_of(known, name_or_id, stack)
    if len(found) > 1:
        names = ", ".join(row.name for row in found)
        raise ValidationError(
            f"Multiple resources of {stack.name} have the physical ID ({name_or_id}): {names}."
            " Give a name",
            PHYSICAL_ID_AMBIGUITY,
        )
    return found[0]


def current_rows(rows: Sequence[Resource]) -> list[Resource]:
    """Return the rows of current resources, without those that wait for their removal.

    If one of those waits at a hook, the row that has replaced it shows the hook. If the new row is
    removed first, as in a delete, the old one represents the resource until its own removal.
    """
    leaving = {row.name: row for row in rows if row.replaced_by is not None and hook_of(row)}
    names = {row.name for row in rows if row.replaced_by is None}
    ids = {row.id for row in rows}
    return [
        replace(row, hook=leaving[row.name].hook) if row.name in leaving else row
        for row in rows
        if row.replaced_by is None or (row.name not in names and row.replaced_by not in ids)
    ]


async def await_end(store: Store, operation_id: str) -> None:
    """Return when an operation has ended, or after seven seconds.

    The engine of the stack may be another process, which does not notify this one.
    """
    for pause_seconds in _END_PAUSES:
        found = await store.operation_status(operation_id)
        if found is None or found[0].final:
            return
        await asyncio.sleep(pause_seconds)


class Finder:
    """Finds stacks by name, id and address, for a caller."""

    def __init__(self, ports: Ports) -> None:
        self._store = ports.store

    async def by_name_or_id(self, caller: Caller, name_or_id: str) -> Stack:
        """Return a stack by name, id or ARN. Deleted stacks are found by id only.

        Names may look like ids. An id finds its stack, even if another stack has it as its name.
        """
        arn = parse_arn(name_or_id)
        if arn is not None:
            address = arn if isinstance(arn, StackAddress) else arn.stack
            named = await self.at(caller, address)
            if named.project_id != address.project_id:
                raise _not_found(name_or_id)
            return named
        if OWN_ID.fullmatch(name_or_id):
            stack = await self._store.stack(name_or_id)
            if stack is not None and _may_see(caller, stack):
                return stack
        stack = await self._store.find_stack(caller.project_id, name_or_id)
        if stack is None:
            stack = await self._store.stack(name_or_id)
        if stack is None and caller.is_admin:
            stack = await self._store.find_stack(None, name_or_id)
        if stack is None or not _may_see(caller, stack):
            raise _not_found(name_or_id)
        return stack

    async def at(self, caller: Caller, address: StackAddress) -> Stack:
        """Return the stack at an address. Its name and id must both be right."""
        stack = await self._store.stack(address.id)
        if stack is None or stack.name != address.name or not _may_see(caller, stack):
            raise _not_found(address.name, address.id)
        if caller.is_stack_user and stack.user_project_id != caller.project_id:
            raise ForbiddenError("a stack user may use the resources of its own stack only")
        return stack


def is_own(caller: Caller, row: Resource) -> bool:
    """Return whether a caller may use a resource: a stack user only the one it was created for."""
    return not caller.is_stack_user or row.data.get("user_id") == caller.user_id


def require_own(caller: Caller, row: Resource) -> None:
    """Raise ForbiddenError for a stack user that does not own the resource."""
    if not is_own(caller, row):
        raise ForbiddenError("a stack user may use the resource only that it was made for")


def _may_see(caller: Caller, stack: Stack) -> bool:
    own = caller.project_id in (stack.project_id, stack.user_project_id)
    return caller.is_admin or own
