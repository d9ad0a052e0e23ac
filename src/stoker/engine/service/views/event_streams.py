"""Streams of events, for clients that keep a connection open.

A stream buffers nothing: unread events stay in the store, and are read when the client reads on.
Commits of this process wake the stream; it also polls for those of other processes.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections import Counter, defaultdict
from collections.abc import AsyncIterator, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from msgspec import Struct

from stoker.engine.model.interfaces import Observer, Ports, StoreError
from stoker.engine.model.records import Event, Stack, Status
from stoker.engine.model.requests import Caller, EventQuery, Page
from stoker.engine.model.storage.changes import Change, records_of
from stoker.engine.model.views import EventView, StackView
from stoker.engine.service.stack_access.lookup import Finder
from stoker.engine.service.stack_access.presenters import event_view, stack_view
from stoker.engine.service.views.queries import Queries
from stoker.kernel.addresses import StackAddress
from stoker.kernel.errors import LimitExceededError
from stoker.kernel.values import replace

MOST, MOST_OF_PROJECT = 500, 100  # open streams, in all and of a project
AT_ONCE = 100  # events that one read returns
HEARTBEAT = 10.0  # seconds after which a stream without events sends a heartbeat
LONGEST = 600.0  # seconds; the client has to authenticate again then
_PAUSE = 0.05  # seconds in which events are collected


class StreamMessage(Struct, frozen=True):
    """One message of a stream. It is a heartbeat if neither field is set."""

    events: Sequence[EventView] = ()
    end: StackView | None = None  # the stack at rest, as the last message


@dataclass(slots=True)
class _Stream:
    """The stream of one client."""

    query: EventQuery  # selects the events that were not sent yet
    wakeup: asyncio.Event = field(default_factory=asyncio.Event)
    listens_to: frozenset[str] = frozenset()  # ids of stacks
    has_started: bool = False  # a message was sent, at least a heartbeat


class EventStreams(Observer):
    """All streams of a process."""

    def __init__(self, ports: Ports, finder: Finder, views: Queries) -> None:
        self._ports = ports
        self._finder = finder
        self._views = views
        self._open: Counter[str] = Counter()  # by project
        self._listening: defaultdict[str, set[asyncio.Event]] = defaultdict(set)  # by stack id
        self._closing = False
        ports.store.observe(self)

    def committed(self, change: Change, *, certain: bool) -> None:
        """Wake the streams of the stacks that the change concerns."""
        if self._listening:
            self.notify({change.stack_id, *(event.stack_id for event in records_of(change, Event))})

    def notify(self, stack_ids: Iterable[str]) -> None:
        """Wake the streams of stacks that have new events."""
        for stack_id in stack_ids:
            for wakeup in self._listening.get(stack_id, ()):
                wakeup.set()

    def close(self) -> None:
        """End all streams. Their clients connect again, here or to another process."""
        self._closing = True
        for listening in self._listening.values():
            for wakeup in listening:
                wakeup.set()

    async def follow(
        self, caller: Caller, address: StackAddress, query: EventQuery, *, until_end: bool
    ) -> AsyncIterator[StreamMessage]:
        """Yield the events after the marker of a query, oldest first, then new ones as they happen.

        With ``until_end``, the last message is the stack, sent once its operations have ended.
        Raises NotFoundError, and LimitExceededError if too many streams are open.
        """
        self._enter(caller.project_id)
        stream = _Stream(query)
        ends_at = asyncio.get_running_loop().time() + LONGEST
        try:
            while not self._closing and asyncio.get_running_loop().time() < ends_at:
                # Clear the flag before reading. A commit during the read sets it again.
                stream.wakeup.clear()
                try:
                    message = await self._next(caller, address, stream, until_end=until_end)
                except StoreError as fault:
                    if not (fault.passing and stream.has_started):
                        raise
                    message = (
                        StreamMessage()
                    )  # The marker is unchanged, so missed events are sent later.
                stream.has_started = True
                yield message
                if message.end is not None:
                    return
                if not message.events:
                    with contextlib.suppress(TimeoutError):
                        await asyncio.wait_for(stream.wakeup.wait(), HEARTBEAT)
                    await asyncio.sleep(_PAUSE)
        finally:
            self._listen(stream, {})
            self._open[caller.project_id] -= 1

    async def _next(
        self, caller: Caller, address: StackAddress, stream: _Stream, *, until_end: bool
    ) -> StreamMessage:
        """Return the next message."""
        stack = await self._finder.at(caller, address)
        known = {each.id: each async for each in self._views.tree(stack, stream.query.nested_depth)}
        self._listen(stream, known)
        if events := await self._read(stack, known, stream.query):
            stream.query = replace(stream.query, page=Page(marker=events[-1].id))
            return StreamMessage(events)
        if until_end and not _is_busy(stack):
            return StreamMessage(end=stack_view(stack))
        return StreamMessage()

    def _enter(self, project_id: str) -> None:
        if self._open[project_id] >= MOST_OF_PROJECT or self._open.total() >= MOST:
            raise LimitExceededError("Too many streams of events are open; end some, or try later.")
        self._open[project_id] += 1

    def _listen(self, stream: _Stream, known: Mapping[str, Stack]) -> None:
        for stack_id in stream.listens_to - known.keys():
            self._listening[stack_id].discard(stream.wakeup)
            if not self._listening[stack_id]:
                del self._listening[stack_id]
        for stack_id in known:
            self._listening[stack_id].add(stream.wakeup)
        stream.listens_to = frozenset(known)

    async def _read(
        self, stack: Stack, known: Mapping[str, Stack], query: EventQuery
    ) -> list[EventView]:
        # If the event of the marker was deleted, this returns all remaining events.
        page = Page(limit=AT_ONCE, marker=query.page.marker, descending=False)
        found = await self._ports.store.events(list(known), replace(query, page=page))
        root = stack.address if query.nested_depth else None
        ports = self._ports
        return [event_view(known[event.stack_id], event, ports, root) for event in found]


def _is_busy(stack: Stack) -> bool:
    """Return whether a stack has an operation in progress, or one that waits to start."""
    waits = stack.requested is not None and stack.deleted_at is None
    return waits or stack.status is Status.IN_PROGRESS
