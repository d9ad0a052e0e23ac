"""The machine that works off what requests have written into ``task_state``.

One piece of work at a time for each server, about eight at once altogether. Whatever is undone
when the process ends is found in the store at the next start and done then.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from localcloud.compute import actions
from localcloud.compute.servers import DELETING, SHUTDOWN, change, fault
from localcloud.compute.state import State
from localcloud.fabric.interface import Exit, FabricError
from localcloud.http import ApiError
from localcloud.store import Document

_LOG = logging.getLogger(__name__)
PARALLEL = 8
"""Pieces of work at once, altogether."""
HOLD_SECONDS = 0.5
"""How long a request about one server waits for work that is under way."""
_UNMOVED = (None, "image_snapshot")
"""Task states whose work does not set the power state itself."""


@dataclass(frozen=True)
class Job:
    """The work behind a task state."""

    event: str
    """Its name in the server's record of actions."""
    run: Callable[[Document], Awaitable[None]]
    """Does the work, all of it again where it was half done, and writes the final state."""
    fatal: bool = False
    """A failure leaves the server in error; otherwise it stays as it was."""


class Machine:
    """Runs the jobs of servers in the background."""

    def __init__(self, state: State) -> None:
        self._state = state
        self._jobs: dict[str, Job] = {}
        self._locks: dict[str, asyncio.Lock] = {}
        self._tasks: set[asyncio.Task[None]] = set()
        self._latest: dict[str, asyncio.Task[None]] = {}
        self._slots = asyncio.Semaphore(PARALLEL)

    def teach(self, jobs: dict[str, Job]) -> None:
        """Say which job belongs to which task state."""
        self._jobs.update(jobs)

    def work_on(self, server_id: str) -> None:
        """Begin the work that the server's task state asks for, after what is under way."""
        task = asyncio.get_running_loop().create_task(self._work(server_id))
        self._tasks.add(task)
        self._latest[server_id] = task
        task.add_done_callback(lambda done: self._end(server_id, done))

    def _end(self, server_id: str, task: asyncio.Task[None]) -> None:
        self._tasks.discard(task)
        if self._latest.get(server_id) is task:
            del self._latest[server_id]

    async def soon(self, server_id: str) -> None:
        """Return when the work on a server has ended, or after :data:`HOLD_SECONDS`.

        Clients poll every few seconds, and most work here takes a tenth of one: the first answer
        is the last they need, and one action may follow another at once.
        """
        task = self._latest.get(server_id)
        if task is not None:
            await asyncio.wait({task}, timeout=HOLD_SECONDS)

    async def idle(self) -> None:
        """Return when no work is left."""
        while self._tasks:
            await asyncio.gather(*self._tasks, return_exceptions=True)

    async def stop(self) -> None:
        """Leave all work as it is."""
        for task in list(self._tasks):
            task.cancel()
        await self.idle()

    def exited(self, exit: Exit) -> None:  # noqa: A002  (the fabric's word)
        """Note that a server's first process has ended by itself: the server is shut off."""
        server = self._state.servers.get(exit.server_id)
        if exit.asked or server is None or server["task_state"] not in _UNMOVED:
            return
        if server["vm_state"] in {"active", "paused", "suspended", "rescued", "resized"}:
            vm_state = "resized" if server["vm_state"] == "resized" else "stopped"
            change(self._state, exit.server_id, vm_state=vm_state, power_state=SHUTDOWN)

    async def _work(self, server_id: str) -> None:
        lock = self._locks.setdefault(server_id, asyncio.Lock())
        async with lock, self._slots:
            server = self._state.servers.get(server_id)
            job = self._jobs.get(server["task_state"] or "") if server is not None else None
            if server is not None and job is not None:
                await self._do(job, server)
        if server_id not in self._state.servers:
            self._locks.pop(server_id, None)

    async def _do(self, job: Job, server: Document) -> None:
        action_id, event = server["action_id"], job.event
        actions.begin(self._state, action_id, event, server["host"])
        try:
            await job.run(server)
        except (FabricError, ApiError, OSError) as error:
            self._failed(job, server, str(error))
        except Exception as error:  # noqa: BLE001  (the server must show it)
            _LOG.exception("%s of server %s failed", event, server["id"])
            self._failed(job, server, f"{type(error).__name__}: {error}")
        else:
            actions.finish(self._state, action_id, event)

    def _failed(self, job: Job, server: Document, message: str) -> None:
        actions.finish(self._state, server["action_id"], job.event, message)
        current = self._state.servers.get(server["id"])
        if current is None or (
            current["task_state"] == DELETING and server["task_state"] != DELETING
        ):
            return
        told = fault(self._state, 500, message)
        failed = {**current, "task_state": None, "fault": told, "updated": self._state.now()}
        if job.fatal:
            failed["vm_state"] = "error"
        self._state.servers.put(failed)
