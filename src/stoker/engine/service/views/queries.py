"""Answers queries about stacks, resources and events from committed rows."""

from __future__ import annotations

import functools
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from typing import Any, TypeVar

from stoker.engine.execution.session import StackRows
from stoker.engine.model.interfaces import Ports
from stoker.engine.model.records import Resource, Stack
from stoker.engine.model.requests import Caller, EventQuery, ResourceQuery, StackQuery
from stoker.engine.model.views import EventView, ResourceView, StackView
from stoker.engine.planning.evaluations import evaluation_at
from stoker.engine.service.stack_access.access import require_readable
from stoker.engine.service.stack_access.lookup import Finder, current_rows, row_of
from stoker.engine.service.stack_access.presenters import (
    environment_view,
    event_view,
    is_emptied,
    matches,
    resource_view,
    stack_view,
)
from stoker.engine.service.views.live_attributes import LiveAttributes
from stoker.engine.service.views.live_values import attributes_of, metadata_of, unstarted
from stoker.kernel.addresses import StackAddress
from stoker.kernel.errors import NOT_FOUND, NotFoundError
from stoker.template.definition import Output
from stoker.template.evaluate.evaluation import Evaluation

Result = TypeVar("Result")

_FEW = 100  # rows whose views take a millisecond on the event loop; more use a thread


class Queries:
    """Queries, for a caller."""

    def __init__(self, ports: Ports, finder: Finder) -> None:
        self._ports = ports
        self._store = ports.store
        self._finder = finder
        self._live = LiveAttributes(ports)

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
        return environment_view(evaluation)

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

    async def resources(
        self, caller: Caller, address: StackAddress, query: ResourceQuery
    ) -> Sequence[ResourceView]:
        """Return the resources of the stack, and of nested stacks down to the requested depth."""
        stack = await self._finder.at(caller, address)
        found: list[ResourceView] = []
        async for each in self.tree(stack, query.nested_depth):
            rows = await self._store.resources(each.id)
            session = await self._session(each, rows) if query.with_attributes else None
            if query.with_unstarted:
                rows = [*rows, *await unstarted(self._ports, each, rows)]
            views = functools.partial(_resource_views, each, rows, session, query.filters)
            found += await self._computed(len(rows), views)
        return found

    async def tree(self, stack: Stack, depth: int) -> AsyncIterator[Stack]:
        """Yield a stack and its nested stacks, level by level, down to the requested depth."""
        level = [stack]
        while level:
            for each in level:
                yield each
            if depth <= 0:
                return
            depth -= 1
            level = [child for each in level for child in await self._store.children(each.id)]

    async def _computed(self, count: int, call: Callable[[], Result]) -> Result:
        """Run work on ``count`` rows; only little work runs on the event loop."""
        return call() if count <= _FEW else await self._ports.workers.compute(call)

    async def resource(
        self,
        caller: Caller,
        address: StackAddress,
        name: str,
        *,
        with_attributes: Sequence[str] = (),
        with_unstarted: bool = False,
    ) -> ResourceView:
        """Return a resource with its live attributes, or with a note if they are recorded ones."""
        stack = await self._finder.at(caller, address)
        rows = current_rows(await self._store.resources(stack.id))
        session = await self._session(stack, rows)
        if with_unstarted:
            rows += await unstarted(self._ports, stack, rows)
        row = row_of(rows, name, stack)
        require_readable(caller, session, row)
        shown = await self._live.of(session, [row.name])
        row = shown.rows.get(row.name, row)
        attributes = attributes_of(session, row, with_attributes)
        needed = _needed_by(rows)
        metadata = await metadata_of(session, row)
        return resource_view(
            stack, row, needed.get(row.name, ()), attributes, metadata, note=shown.note
        )

    async def metadata(self, caller: Caller, address: StackAddress, name: str) -> Mapping[str, Any]:
        """Return the metadata of a resource, with additions of its signals and deployments."""
        stack = await self._finder.at(caller, address)
        rows = current_rows(await self._store.resources(stack.id))
        session = await self._session(stack, rows)
        row = row_of([*rows, *await unstarted(self._ports, stack, rows)], name, stack)
        require_readable(caller, session, row)
        return await metadata_of(session, row)

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

    async def _session(self, stack: Stack, rows: Sequence[Resource]) -> StackRows:
        session = StackRows(self._ports, stack, rows)
        await session.load_signals()
        return session

    async def _outputs(self, stack: Stack, evaluation: Evaluation) -> list[Output]:
        if is_emptied(stack):
            return []
        session = await self._session(stack, await self._store.resources(stack.id))
        return await self._live.outputs(session, evaluation)


def _resource_views(
    stack: Stack,
    rows: Sequence[Resource],
    session: StackRows | None,
    filters: Mapping[str, tuple[str, ...]],
) -> list[ResourceView]:
    """Return views of the resources that match, with attributes if there is a session."""
    current = current_rows(rows)
    needed = _needed_by(current)
    views = (
        resource_view(
            stack,
            row,
            needed.get(row.name, ()),
            None if session is None else attributes_of(session, row),
        )
        for row in current
    )
    return [view for view in views if matches(view, filters)]


def _needed_by(rows: Sequence[Resource]) -> dict[str, list[str]]:
    needed: dict[str, list[str]] = {}
    for row in rows:
        for need in row.dependencies:
            needed.setdefault(need, []).append(row.name)
    return needed
