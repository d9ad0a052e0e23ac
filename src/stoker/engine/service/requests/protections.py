"""Protections that users set on their stacks."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from msgspec import Struct

from stoker.engine.model.change_sets import Protection
from stoker.engine.model.interfaces import Ports, PublicChange, TransactionReader
from stoker.engine.model.records import Input, Stack
from stoker.engine.model.requests import Caller, StackRequest
from stoker.engine.model.stack_policy import read_policy
from stoker.engine.service.stack_access.guards import live
from stoker.engine.service.stack_access.lookup import Finder
from stoker.engine.service.stack_access.shared_values import export_names, require_shared
from stoker.kernel.addresses import StackAddress
from stoker.kernel.errors import ActionInProgressError, NotSupportedError
from stoker.kernel.values import replace
from stoker.template.evaluate.evaluation import Evaluation


class Rules(Struct, frozen=True):
    """What an update of a stack is bound by."""

    of_update: Mapping[str, Any]
    """The policy for the update itself."""
    before: Protection
    stack: Stack
    given: Input
    exported: frozenset[str]
    """The names under which it exports values."""
    new: tuple[Protection, ...] = ()
    """What protects the stack from now on, if the update changes that."""

    def require(self, inside: TransactionReader) -> None:
        """Raise ActionInProgressError if somebody has set another protection meanwhile,
        NotSupportedError for
        exports that are not to be made, or to go.
        """
        if inside.protection(self.before.stack_id) != self.before:
            raise _changed()
        require_shared(inside, self.stack, self.given, self.exported)


async def rules_for(
    ports: Ports, stack: Stack, request: StackRequest, wanted: tuple[Input, Evaluation]
) -> Rules:
    """The rules of an update to what is wanted. Raises Invalid for what is no policy."""
    given, evaluation = wanted
    exported = await export_names(ports, evaluation)
    before = await ports.store.protections.protection(stack.id)

    def read(text: str | None, other: Mapping[str, Any]) -> Mapping[str, Any]:
        return other if text is None else read_policy(text)

    def rules() -> Rules:
        of_update = read(request.policy_meanwhile, before.policy)
        after = replace(before, policy=read(request.stack_policy, before.policy))
        new = () if after == before else (after,)
        return Rules(of_update, before, stack, given, exported, new)

    return await ports.workers.compute(rules)


class Protections:
    """Protections of stacks, for a caller."""

    def __init__(self, ports: Ports, finder: Finder) -> None:
        self._ports = ports
        self._finder = finder

    async def show(self, caller: Caller, address: StackAddress) -> Protection:
        """What protects a stack."""
        stack = await self._finder.at(caller, address)
        return await self._ports.store.protections.protection(stack.id)

    async def keep(self, caller: Caller, address: StackAddress, *, keeps: bool) -> None:
        """Protect a stack against being deleted, or no longer.

        Raises NotSupportedError for a nested stack, which goes with the one around it.
        """
        stack = await self._finder.at(caller, address)
        if stack.parent_id is not None:
            raise NotSupportedError(
                f"{stack.name} is nested in another stack: protect that one against being deleted"
            )
        before = await self._ports.store.protections.protection(stack.id)
        await self._set(stack, before, replace(before, keeps=keeps))

    async def set_policy(self, caller: Caller, address: StackAddress, text: str) -> None:
        """Say what updates may do to the resources of a stack. Raises Invalid for no policy."""
        stack = await self._finder.at(caller, address)
        policy = await self._ports.workers.compute(lambda: read_policy(text))
        before = await self._ports.store.protections.protection(stack.id)
        await self._set(stack, before, replace(before, policy=policy))

    async def _set(self, stack: Stack, before: Protection, protection: Protection) -> None:
        def guard(inside: TransactionReader) -> None:
            live(inside, stack)
            if inside.protection(stack.id) != before:
                raise _changed()

        change = PublicChange(stack.id, protections=(protection,), guards=(guard,))
        await self._ports.store.commit(change)


def _changed() -> ActionInProgressError:
    return ActionInProgressError(
        "the protection of the stack has been changed in the meantime; try again"
    )
