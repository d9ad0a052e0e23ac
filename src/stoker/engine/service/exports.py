"""Stacks as documents, for an export or an abandon.

A document contains everything for an adoption of the stack's objects, in Heat's format. Hidden
parameters and the data of types about their objects are in clear text, since an adoption needs
them. The service's own Keystone users and their keys are left out.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from stoker.engine.model.interfaces import Ports, PublicChange, TransactionReader
from stoker.engine.model.kinds import ChangeRequest
from stoker.engine.model.records import Action, Input, Resource, Stack
from stoker.engine.model.requests import Caller
from stoker.engine.service.stack_access.guards import live, require_disposable
from stoker.engine.service.stack_access.lookup import Finder, current_rows
from stoker.engine.service.stack_access.presenters import stack_view
from stoker.engine.service.views.documents import resource_document, stack_document
from stoker.kernel.addresses import StackAddress
from stoker.kernel.errors import ActionInProgressError, LimitExceededError, NotFoundError
from stoker.template.environment.environment import parse_environment, stored


class Exports:
    """Documents of stacks, for a caller."""

    def __init__(self, ports: Ports, finder: Finder) -> None:
        self._ports = ports
        self._store = ports.store
        self._finder = finder

    async def export(self, caller: Caller, address: StackAddress) -> Mapping[str, Any]:
        """Return the document of a stack. Raises LimitExceededError for one that is too large."""
        stack = await self._finder.at(caller, address)
        return await _Tree(self._ports).document(_there(stack))

    async def abandon(self, caller: Caller, address: StackAddress) -> Mapping[str, Any]:
        """Return the document of a stack, and delete the stack without its objects.

        Raises ActionInProgressError for a stack that is changing: the document would be outdated.
        """
        stack = _there(await self._finder.at(caller, address))
        tree = _Tree(self._ports)
        document = await tree.document(stack)
        request = ChangeRequest(abandons=True)
        operation = self._ports.operation_on(stack, Action.DELETE, request)

        def guard(inside: TransactionReader) -> None:
            live(inside, stack)
            require_disposable(inside, stack)
            # An object that was created since would be missing in the document, and nothing would
            # delete it.
            if any(_has_moved(inside, each) for each in tree.stacks):
                raise _moved(stack)

        await self._store.commit(PublicChange(stack.id, puts=(operation,), guards=(guard,)))
        return document


class _Tree:
    """Reads a stack and its nested stacks for a document."""

    def __init__(self, ports: Ports) -> None:
        self._ports = ports
        self._left = ports.limits.document
        self.stacks: list[Stack] = []

    async def document(self, stack: Stack) -> dict[str, Any]:
        """Return everything for an adoption of the stack's objects."""
        store, compute = self._ports.store, self._ports.workers.compute
        self.stacks.append(stack)
        try:
            stack_input = await store.input(stack.input_id)
        except NotFoundError:
            raise _moved(stack) from None
        rows = current_rows(await store.resources(stack.id))
        whole = await compute(lambda: _document(stack, stack_input, rows))
        # The limit counts for the whole tree. Nested stacks get what is left of it.
        self._left -= await compute(lambda: len(json.dumps(whole)))
        if self._left < 0:
            raise LimitExceededError(
                f"the document of {stack.name} would have more than"
                f" {self._ports.limits.document} characters"
            )
        ids = {row.id: row for row in rows}
        for child in await store.children(stack.id):
            row = ids.get(child.parent_resource_id or "")
            if row is not None:
                resource_data = whole["resources"][row.name]["resource_data"]
                inner = await self.document(child)
                whole["resources"][row.name] = {**inner, "resource_data": resource_data}
        return whole


def _document(stack: Stack, stack_input: Input, rows: list[Resource]) -> dict[str, Any]:
    environment = stored(
        parse_environment(stack_input.environment).with_parameters(stack_input.parameters)
    )
    del environment["encrypted_param_names"]  # The values of the document are in clear text.
    view = stack_view(stack)
    state = {"action": view.action, "status": view.status, "tags": stack.tags}
    resources = {row.name: _resource(row) for row in rows}
    return stack_document(stack, stack_input, environment, resources, state)


def _resource(row: Resource) -> dict[str, Any]:
    state = row.action, row.status
    return resource_document(
        row.name, row.physical_id, row.type_name, state, row.metadata, row.data
    )


def _there(stack: Stack) -> Stack:
    """Return the stack. Raises NotFoundError if it has been deleted."""
    if stack.deleted_at is not None:
        raise NotFoundError(f"the stack {stack.name} ({stack.id}) has already been deleted")
    return stack


def _moved(stack: Stack) -> ActionInProgressError:
    return ActionInProgressError(
        f"Stack {stack.name} already has an action ({stack.action}) in progress; wait for its end"
    )


def _has_moved(inside: TransactionReader, stack: Stack) -> bool:
    """Return whether a stack has an open operation, or was changed since it was read."""
    now = inside.stack(stack.id)
    return (
        now is None
        or bool(inside.queue(stack.id))
        or (now.input_id, now.updated_at, now.fencing_token)
        != (stack.input_id, stack.updated_at, stack.fencing_token)
    )
