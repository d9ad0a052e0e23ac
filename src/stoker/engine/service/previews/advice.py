"""Facts of the cloud that a plan shows beside its changes: quotas, and users of deleted objects.

A cloud rejects the delete of a network with the port of another stack. A plan warns about that, and
is not rejected: the other stack may release the object first. Tested by
tests/operations/test_quotas.py and test_foreign_users.py.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from stoker.engine.execution.calls.type_caller import TypeCall
from stoker.engine.execution.nested.preview_tree import PreviewedStack
from stoker.engine.execution.observe.preparation import ask_beside
from stoker.engine.execution.session import StackRows
from stoker.engine.model.interfaces import ENDS_TURN, Ports
from stoker.engine.model.records import Action, Resource, Stack
from stoker.engine.model.views import ChangeView, PlanView, PlanWarning
from stoker.engine.service.previews.quotas import quotas_of, use_of_update
from stoker.kernel.logs.log import Log
from stoker.kernel.values import replace
from stoker.schema.resource_type import ManagedType, ObjectUser, ShowsUsers, can

log = Log(__name__)

_MOST = 50  # deleted objects whose users are read
_MOST_NAMED = 3
_PATIENCE_SECONDS = 10.0


async def advised(
    ports: Ports, plan: PlanView, foreseen: PreviewedStack, *, quotas: bool, warnings: bool
) -> PlanView:
    """Return the plan of an update with the requested facts."""
    stack = foreseen.stack_rows.stack
    if quotas:
        use = await ports.workers.compute(lambda: use_of_update(foreseen))
        plan = replace(plan, quotas=tuple(await quotas_of(ports, stack, use)))
    if warnings:
        plan = replace(plan, warnings=tuple(await foreign_users(ports, stack, plan.changes)))
    return plan


async def foreign_users(
    ports: Ports, stack: Stack, changes: Sequence[ChangeView]
) -> Sequence[PlanWarning]:
    """Return a warning for each deleted object that others use, as far as the cloud answers."""
    users = _Users(ports, stack)
    candidates = [
        (change, type_) for change in changes if (type_ := users.type_of(change)) is not None
    ]
    del candidates[_MOST:]
    found = await asyncio.gather(*(users.of(*each) for each in candidates))
    return [
        PlanWarning(change.path, _words(foreign))
        for (change, _), foreign in zip(candidates, found, strict=True)
        if foreign
    ]


class _Users:
    """Reads the users of objects of a stack, until a common deadline."""

    def __init__(self, ports: Ports, stack: Stack) -> None:
        self._ports = ports
        self._stack = stack
        until = asyncio.get_running_loop().time() + _PATIENCE_SECONDS
        self._ask = ask_beside(StackRows(ports, stack, ()), until)

    def type_of(self, change: ChangeView) -> ManagedType | None:
        """Return the type of a deleted object whose users can be read; None for others."""
        if change.change != "deleted" or change.keeps_object or not change.resource.physical_id:
            return None
        type_ = self._ports.types.find(change.resource.type_name)
        return type_ if isinstance(type_, ManagedType) and can(type_, ShowsUsers) else None

    async def of(self, change: ChangeView, type_: ManagedType) -> Sequence[ObjectUser]:
        """Return the users outside the stack; none if the cloud does not answer."""
        assert can(type_, ShowsUsers)
        row = Resource(
            id=change.resource.name,
            stack_id=self._stack.id,
            name=change.resource.name,
            type_name=change.resource.type_name,
            token="",
            created_at=0.0,
            updated_at=0.0,
            action=Action.DELETE,
            physical_id=change.resource.physical_id,
        )
        try:
            users = await self._ask(row, TypeCall(type_, type_.users, {}))
            return [user for user in users if not await self._is_own(user)]
        except ENDS_TURN:
            raise
        except Exception as error:  # noqa: BLE001 - a plan without this warning is still correct
            reason = self._ports.faults.describe(error)
            log.info("users not read", resource=row.name, error=reason)
            return ()

    async def _is_own(self, user: ObjectUser) -> bool:
        store, root = self._ports.store, self._stack.root_id or self._stack.id
        for physical_id in user.ids:
            for row in await store.resources_of_object(self._stack.project_id, physical_id):
                stack = await store.stack(row.stack_id)
                if stack is not None and (stack.root_id or stack.id) == root:
                    return True
        return False


def _words(users: Sequence[ObjectUser]) -> str:
    named = ", ".join(user.words for user in users[:_MOST_NAMED])
    if len(users) > _MOST_NAMED:
        named = f"{named} and {len(users) - _MOST_NAMED} more"
    return (
        f"it is deleted, but {named} outside this stack still uses it: the delete fails until that"
        " is removed"
    )
