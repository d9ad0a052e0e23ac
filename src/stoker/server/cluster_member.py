"""The wiring of one of many processes that share the work on a database."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable, Iterable, Mapping, Sequence

from stoker.api.ports import EngineView
from stoker.concurrency.background import Background
from stoker.dispatch.lease import HeartbeatLease
from stoker.dispatch.notifications import NotificationHandler, NotificationListener
from stoker.dispatch.procrastinate import Procrastinate
from stoker.dispatch.turns import Turns
from stoker.engine.model.interfaces import Ports, StoreError
from stoker.kernel.logs.log import Log
from stoker.kernel.values import replace
from stoker.observability.report import Work
from stoker.server.leader_tasks import LeaderTasks, SingletonTask
from stoker.server.scheduling import ForeignHandler, StackScheduler
from stoker.store.ownership.cluster_tables import Members
from stoker.store.ownership.engines import EngineRecord

log = Log(__name__)

REPORT = 5.0
"""Seconds between two reports of an engine."""
FORGOTTEN_AFTER = 86_400.0
MEASURED_EVERY = 60.0  # seconds between two reads of the server's clock
LOOK_AGAIN = 600.0
"""Seconds between polls of a nested stack. Its end is notified by the commit that records it."""


class ClusterScheduler(StackScheduler):
    """Work of one process together with the others."""

    def __init__(
        self,
        members: Members,
        ports: Ports,
        name: str,
        host: str,
        lease: HeartbeatLease | None,
    ) -> None:
        """An engine has a ``lease``, and drives stacks; other processes only ask for that."""
        self.ports = replace(ports, limits=replace(ports.limits, second_look=LOOK_AGAIN))
        self.dispatcher = self._turns = Turns(self.ports, members.turns)
        self._members = members
        now = members.clock.now()
        self._own = EngineRecord(name, host, os.getpid(), now, now)
        self._procrastinate: Procrastinate | None = None
        if lease is not None:
            self._procrastinate = Procrastinate(
                members.conninfo,
                members.turns,
                lease,
                lambda: ports.store.latency,
            )
        self._leader_tasks: LeaderTasks | None = None
        self._listener: NotificationListener | None = None
        self._background = Background(self._look_after)
        self._share: Callable[[int], None] = lambda among: None

    async def start(
        self,
        tasks: Sequence[SingletonTask],
        handlers: Mapping[str, ForeignHandler],
        share: Callable[[int], None],
    ) -> None:
        """Start to receive notifications, and to take turns."""
        self._share = share
        turns: Mapping[str, NotificationHandler] = {
            "turn": lambda about, own: self._receive([(id_, None) for id_ in about], own),
            "end": lambda about, own: self._receive(zip(about[::2], about[1::2], strict=True), own),
            "due": lambda about, own: self._receive((), own),
        }
        foreign = {kind: _without_own(handler) for kind, handler in handlers.items()}
        self._listener = NotificationListener(
            self._members.conninfo, self._own.id, {**turns, **foreign}, self._turns.miss
        )
        await self._listener.start()
        if self._procrastinate is not None:
            await self._report()
            await self._procrastinate.start(self._turns)
            self._leader_tasks = LeaderTasks(self._members.leader_lock, tasks)
            self._leader_tasks.start()
        self._background.start()

    def _receive(self, notifications: Iterable[tuple[str, str | None]], own: bool) -> None:
        """Let drivers hear of their stacks, and an engine that there are turns to take."""
        self._turns.receive(notifications, known=own)
        if self._procrastinate is not None:
            self._procrastinate.notify()

    async def close(self) -> None:
        """End, and release the stacks that are driven here."""
        await self._background.close()
        if self._procrastinate is not None:
            await self._procrastinate.close()
            await self._members.engines.leave(self._own.id)
        if self._leader_tasks is not None:
            await self._leader_tasks.close()
        if self._listener is not None:
            await self._listener.close()

    async def engines(self) -> Sequence[EngineView]:
        """All engines that have reported within a day."""
        now = self._members.clock.now()
        return [
            EngineView(e.id, e.id, e.host, e.created_at, e.updated_at, e.is_up(now))
            for e in await self._members.engines.all()
        ]

    async def work(self) -> Work:
        """Return the driven and the waiting stacks."""
        due, engines = await self._members.turns.due(), await self.engines()
        up = sum(each.up for each in engines)
        return Work(self._turns.under_way, due, up, len(engines) - up)

    async def _report(self) -> None:
        await self._members.engines.report(replace(self._own, updated_at=self._members.clock.now()))

    async def _look_after(self) -> None:
        """Send reports, and read those of the others and the server's clock."""
        since_measured = 0.0
        while True:
            try:
                if self._procrastinate is not None:
                    await self._report()
                self._share(sum(each.up for each in await self.engines()))
                if (since_measured := since_measured + REPORT) >= MEASURED_EVERY:
                    since_measured = 0.0
                    await self._members.measure()
                    now = self._members.clock.now()
                    await self._members.engines.forget(now - FORGOTTEN_AFTER)
            except StoreError as fault:
                log.warning("not reported", reason=str(fault))
            await asyncio.sleep(REPORT)


def _without_own(handler: ForeignHandler) -> NotificationHandler:
    """Ignore the notifications of this process: it knows its own commits already."""

    def handle(ids: Sequence[str], own: bool) -> None:
        if not own:
            handler(ids)

    return handle
