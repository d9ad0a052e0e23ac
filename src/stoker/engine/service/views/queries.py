"""Answers queries about stacks, outputs and events from committed rows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

from stoker.engine.model.records import Stack
from stoker.engine.model.requests import Caller, EventQuery, StackQuery
from stoker.engine.model.views import EventView, StackView
from stoker.engine.planning.evaluations import evaluation_at
from stoker.engine.service.stack_access.presenters import (
    environment_view,
    event_view,
    is_emptied,
    stack_view,
)
from stoker.engine.service.views.resource_queries import ResourceQueries
from stoker.kernel.addresses import StackAddress
from stoker.kernel.errors import NOT_FOUND, NotFoundError
from stoker.template.definition import Output
from stoker.template.evaluate.evaluation import Evaluation


class Queries(ResourceQueries):
    """Queries about stacks, outputs, resources and events, for a caller."""

    async def stack(
        self, caller: Caller, address: StackAddress, *, resolve_outputs: bool = True
    ) -> StackView:
        """Return a stack with its parameters and, if requested, its outputs."""
        stack = await self._finder.at(caller, address)
        evaluation = await self._evaluation(stack)
        outputs: tuple[Output, ...] | None = None
        if resolve_outputs and stack.deleted_at is None:
            outputs = tuple(await self._outputs(stack, evaluation))
        return stack_view(stack, evaluation, outputs)

    async def stacks(self, caller: Caller, query: StackQuery) -> Sequence[StackView]:
        """Return the stacks of the caller's project, newest first."""
        project = None if query.all_projects else caller.project_id
        stacks = await self._store.stacks(project, query)
        return await self._computed(len(stacks), lambda: [stack_view(stack) for stack in stacks])

    async def stack_with(self, caller: Caller, physical_id: str) -> StackAddress:
        """Return the stack of the project with an object of this id. Raises NotFoundError."""
        query = StackQuery(with_object=physical_id, show_nested=True)
        for stack in await self._store.stacks(caller.project_id, query):
            return stack.address
        raise NotFoundError(f"Stack for {physical_id:.300} does not exist: no stack has the object")

    async def count_stacks(self, caller: Caller, query: StackQuery) -> int:
        """Return the number of stacks that match, on all pages."""
        project = None if query.all_projects else caller.project_id
        return await self._store.count_stacks(project, query)

    async def template(
        self, caller: Caller, address: StackAddress
    ) -> tuple[Mapping[str, Any], str | None]:
        """Return the stack's template as data, and its text unless it was sent as data."""
        stack = await self._finder.at(caller, address)
        template = (await self._evaluation(stack)).template
        return template.data, template.source.text

    async def environment(self, caller: Caller, address: StackAddress) -> Mapping[str, Any]:
        """Return the stack's stored environment, with the parameters of its requests."""
        stack = await self._finder.at(caller, address)
        evaluation = await self._evaluation(stack)
        return await self._ports.workers.compute(partial(environment_view, evaluation))

    async def files(self, caller: Caller, address: StackAddress) -> Mapping[str, str]:
        """Return the files that were sent with the template."""
        stack = await self._finder.at(caller, address)
        return (await self._store.input(stack.input_id)).files

    async def output(self, caller: Caller, address: StackAddress, key: str) -> Output:
        """Return an output with its value. Raises NotFoundError."""
        stack = await self._finder.at(caller, address)
        for output in await self._outputs(stack, await self._evaluation(stack)):
            if output.name == key:
                return output
        raise NotFoundError(
            f"Specified output key {key} not found. The stack {stack.name} has no such output",
            NOT_FOUND,
        )

    async def outputs(self, caller: Caller, address: StackAddress) -> Sequence[tuple[str, str]]:
        """Return the keys and descriptions of the outputs, whatever their conditions."""
        stack = await self._finder.at(caller, address)
        if is_emptied(stack):
            return []
        evaluation = await self._evaluation(stack)
        return [
            (body.name, str(body.description or "No description given"))
            for body in evaluation.template.outputs.values()
        ]

    async def events(
        self, caller: Caller, address: StackAddress, query: EventQuery
    ) -> Sequence[EventView]:
        """Return events, oldest first unless the query asks for another order."""
        stack = await self._finder.at(caller, address)
        known = {each.id: each async for each in self.tree(stack, query.nested_depth)}
        found = await self._store.events(list(known), query)
        root = stack.address if query.nested_depth else None
        ports = self._ports

        def views() -> list[EventView]:
            return [event_view(known[event.stack_id], event, ports, root) for event in found]

        return await self._computed(len(found), views)

    async def event(
        self, caller: Caller, address: StackAddress, name: str, event_id: str
    ) -> EventView:
        """Return an event of a resource with its properties. Raises NotFoundError."""
        stack = await self._finder.at(caller, address)
        event = await self._store.event(stack.id, event_id)
        if event is None or event.resource_name != name:
            raise NotFoundError(f"No event {event_id} found for {name}")
        return event_view(stack, event, self._ports)

    async def _evaluation(self, stack: Stack) -> Evaluation:
        return await evaluation_at(self._ports, stack, stack.input_id)

    async def _outputs(self, stack: Stack, evaluation: Evaluation) -> list[Output]:
        if is_emptied(stack):
            return []
        return await self._live.outputs(partial(self._rows.of, stack), evaluation)
