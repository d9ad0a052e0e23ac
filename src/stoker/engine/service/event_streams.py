"""Events as they happen, for clients that keep a connection open.

A stream holds nothing: what a client has not read yet is in the store, and is read when the client
takes more. It is woken by commits, and looks by itself now and then for those of other processes.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections import Counter, defaultdict
from collections.abc import AsyncIterator, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from stoker.engine.model.interfaces import Change, Observer, Ports
from stoker.engine.model.records import Stack, Status
from stoker.engine.model.requests import Caller, EventQuery, Page
from stoker.engine.model.views import EventView, StackView
from stoker.engine.service.lookup import Finder
from stoker.engine.service.presenters import event_view, stack_view
from stoker.engine.service.queries import Queries
from stoker.kernel.addresses import StackAddress
from stoker.kernel.errors import LimitExceeded

MOST, MOST_OF_PROJECT = 500, 100
"""Streams that are open."""
AT_ONCE = 100
"""Events that are read at a time."""
HEARTBEAT = 10.0
"""Seconds after which a stream that has nothing to tell says so."""
LONGEST = 600.0
"""Seconds after which a stream ends, and its client has to show a valid token again."""
_PAUSE = 0.05
"""Seconds in which what happens is collected."""


@dataclass(frozen=True, slots=True)
class Told:
    """What a stream has to tell; neither is a sign of life."""

    events: Sequence[EventView] = ()
    end: StackView | None = None
    """The stack at rest: nothing more comes."""


class EventStreams(Observer):
    """All streams of a process."""

    def __init__(self, ports: Ports, finder: Finder, views: Queries) -> None:
        self._ports = ports
        self._finder = finder
        self._views = views
        self._open: Counter[str] = Counter()
        """By project."""
        self._listening: defaultdict[str, set[asyncio.Event]] = defaultdict(set)
        """By stack, whom to wake."""
        self._closing = False
        ports.store.observe(self)

    def committed(self, change: Change, *, certain: bool) -> None:
        """Wake the streams of the stacks that it is about."""
        if self._listening:
            for stack_id in {change.stack_id, *(event.stack_id for event in change.events)}:
                for news in self._listening.get(stack_id, ()):
                    news.set()

    def close(self) -> None:
        """End all streams: their clients go on elsewhere, or later."""
        self._closing = True
        for listening in self._listening.values():
            for news in listening:
                news.set()

    async def follow(
        self, caller: Caller, address: StackAddress, query: EventQuery, *, until_end: bool
    ) -> AsyncIterator[Told]:
        """The events after the marker of a query, oldest first, then those that happen.

        With ``until_end`` the last thing told is the stack, once nothing is done to it any more.
        Raises NotFound, and LimitExceeded where too many streams are open.
        """
        self._enter(caller.project_id)
        news, ids = asyncio.Event(), frozenset[str]()
        ends_at = asyncio.get_running_loop().time() + LONGEST
        try:
            while not self._closing and asyncio.get_running_loop().time() < ends_at:
                news.clear()
                stack = await self._finder.at(caller, address)
                known = {
                    each.id: each async for each in self._views.tree(stack, query.nested_depth)
                }
                ids = self._listen(news, ids, known)
                told = await self._read(stack, known, query)
                if told:
                    query = replace(query, page=Page(marker=told[-1].id))
                    yield Told(told)
                elif until_end and not _is_busy(stack):
                    yield Told(end=stack_view(stack))
                    return
                else:
                    yield Told()
                    with contextlib.suppress(TimeoutError):
                        await asyncio.wait_for(news.wait(), HEARTBEAT)
                    await asyncio.sleep(_PAUSE)
        finally:
            self._listen(news, ids, {})
            self._open[caller.project_id] -= 1

    def _enter(self, project_id: str) -> None:
        if self._open[project_id] >= MOST_OF_PROJECT or self._open.total() >= MOST:
            raise LimitExceeded("Too many streams of events are open; end some, or try later.")
        self._open[project_id] += 1

    def _listen(
        self, news: asyncio.Event, before: Iterable[str], known: Mapping[str, Stack]
    ) -> frozenset[str]:
        for stack_id in frozenset(before) - known.keys():
            self._listening[stack_id].discard(news)
            if not self._listening[stack_id]:
                del self._listening[stack_id]
        for stack_id in known:
            self._listening[stack_id].add(news)
        return frozenset(known)

    async def _read(
        self, stack: Stack, known: Mapping[str, Stack], query: EventQuery
    ) -> list[EventView]:
        # after an event that was tidied away comes all that is left
        page = Page(limit=AT_ONCE, marker=query.page.marker, descending=False)
        found = await self._ports.store.events(list(known), replace(query, page=page))
        root = stack.address if query.nested_depth else None
        types = self._ports.types
        return [event_view(known[event.stack_id], event, types, root) for event in found]


def _is_busy(stack: Stack) -> bool:
    """Whether something is done to a stack, or about to be."""
    waits = stack.requested is not None and stack.deleted_at is None
    return waits or stack.status is Status.IN_PROGRESS
