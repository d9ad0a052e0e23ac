"""Protections of stacks against deletion, and against kinds of updates."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from msgspec import Struct

from stoker.engine.model.interfaces import Ports, PublicChange, TransactionReader
from stoker.engine.model.records import Stack
from stoker.engine.model.requests import Caller, StackRequest
from stoker.engine.model.stack_policy import read_policy
from stoker.engine.model.stack_records.change_sets import Protection
from stoker.engine.service.stack_access.guards import live
from stoker.engine.service.stack_access.lookup import Finder
from stoker.kernel.addresses import StackAddress
from stoker.kernel.errors import ActionInProgressError, NotSupportedError
from stoker.kernel.values import replace


class UpdateRules(Struct, frozen=True):
    """The stack policy for an update, and the protection that it leaves behind."""

    of_update: Mapping[str, Any]  # policy for the update itself
    before: Protection
    new: tuple[Protection, ...] = ()  # protection from now on, if the update changes it


def protection_of(stack: Stack, request: StackRequest) -> tuple[Protection, ...]:
    """Return the protection that a create sets. Raises ValidationError for a malformed policy."""
    if not request.keeps and request.stack_policy is None:
        return ()
    policy = {} if request.stack_policy is None else read_policy(request.stack_policy)
    return (Protection(stack.id, request.keeps, policy),)


async def rules_for(ports: Ports, stack: Stack, request: StackRequest) -> UpdateRules:
    """Return the rules of an update. Raises ValidationError for a malformed policy."""
    before = await ports.store.protection(stack.id)

    def read(text: str | None, other: Mapping[str, Any]) -> Mapping[str, Any]:
        return other if text is None else read_policy(text)

    def rules() -> UpdateRules:
        of_update = read(request.policy_meanwhile, before.policy)
        after = replace(before, policy=read(request.stack_policy, before.policy))
        new = () if after == before else (after,)
        return UpdateRules(of_update, before, new)

    return await ports.workers.compute(rules)


def require_same_protection(inside: TransactionReader, *, before: Protection) -> None:
    """Raise ActionInProgressError if the protection of a stack was changed since it was read."""
    if inside.protection(before.stack_id) != before:
        raise ActionInProgressError(
            "the protection of the stack has been changed in the meantime; try again"
        )


class Protections:
    """Protections of stacks, for a caller."""

    def __init__(self, ports: Ports, finder: Finder) -> None:
        self._ports = ports
        self._finder = finder

    async def show(self, caller: Caller, address: StackAddress) -> Protection:
        """Return the protection of a stack."""
        stack = await self._finder.at(caller, address)
        return await self._ports.store.protection(stack.id)

    async def keep(self, caller: Caller, address: StackAddress, *, keeps: bool) -> None:
        """Protect a stack against deletion, or remove the protection.

        Raises NotSupportedError for a nested stack, which is deleted with its root stack.
        """
        stack = await self._finder.at(caller, address)
        if stack.parent_id is not None:
            raise NotSupportedError(
                f"{stack.name} is nested in another stack: protect that one against being deleted"
            )
        before = await self._ports.store.protection(stack.id)
        await self._set(stack, before, replace(before, keeps=keeps))

    async def set_policy(self, caller: Caller, address: StackAddress, text: str) -> None:
        """Set the stack policy. Raises ValidationError for a malformed one."""
        stack = await self._finder.at(caller, address)
        policy = await self._ports.workers.compute(lambda: read_policy(text))
        before = await self._ports.store.protection(stack.id)
        await self._set(stack, before, replace(before, policy=policy))

    async def _set(self, stack: Stack, before: Protection, protection: Protection) -> None:
        def guard(inside: TransactionReader) -> None:
            live(inside, stack)
            require_same_protection(inside, before=before)

        change = PublicChange(stack.id, puts=(protection,), guards=(guard,))
        await self._ports.store.commit(change)
