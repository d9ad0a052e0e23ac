"""Performs the tasks that requests write into ``task_state``.

One task at a time runs for each server, and sixteen in all. Unfinished tasks are in the store when
the process ends, and are performed after the next start.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Coroutine
from typing import Any

from msgspec import Struct

from localcloud.compute.model import actions
from localcloud.compute.model.servers import DELETING, RUNNING, SHUTDOWN, change, fault
from localcloud.compute.model.state import State
from localcloud.core.background_tasks import BackgroundTasks
from localcloud.core.store import Document
from localcloud.fabric.interface import Exit, FabricError
from localcloud.web.http import ApiError

_LOG = logging.getLogger(__name__)
PARALLEL = 16  # tasks at the same time, of all servers
HOLD_SECONDS = 0.5  # how long a request about one server waits for work that is under way
# States of servers that have a first process.
_LIVING = frozenset({"active", "paused", "suspended", "rescued", "resized"})
# Task states whose work leaves the server running.
_BOOTING = frozenset(
    {"scheduling", "networking", "spawning", "powering-on", "restarting", "rebuilding"}
    | {"rebooting", "rebooting_hard", "resuming", "unshelving"}
)
_UNMOVED = (None, "image_snapshot")  # task states whose work does not set the power state itself


async def _reported(work: Coroutine[Any, Any, None]) -> None:
    """Do the work and log its failure, since no request waits for it."""
    try:
        await work
    except Exception:  # noqa: BLE001  (it must not end unseen)
        _LOG.exception("work aside failed")


class Job(Struct, frozen=True):
    """The work behind a task state."""

    event: str  # its name in the server's record of actions
    # Does the work, all of it again where it was half done, and writes the final state.
    run: Callable[[Document], Awaitable[None]]
    fatal: bool = False  # a failure leaves the server in error; otherwise it stays as it was


class Machine:
    """Runs the jobs of servers in the background."""

    def __init__(self, state: State) -> None:
        self._state = state
        self._jobs: dict[str, Job] = {}
        self._locks: dict[str, asyncio.Lock] = {}
        self._tasks = BackgroundTasks()
        self._latest: dict[str, asyncio.Task[None]] = {}
        self._slots = asyncio.Semaphore(PARALLEL)
        self._rebooting: set[str] = set()  # servers that have rebooted themselves; to boot again

    def teach(self, jobs: dict[str, Job]) -> None:
        """Register the jobs of task states."""
        self._jobs.update(jobs)

    def work_on(self, server_id: str) -> None:
        """Start the work of the server's task state, after the work in progress."""
        task = self._tasks.start(self._work(server_id))
        self._latest[server_id] = task
        task.add_done_callback(lambda done: self._end(server_id, done))

    def aside(self, work: Coroutine[Any, Any, None]) -> None:
        """Do work without a task state, concurrently with other work for the same server."""
        self._tasks.start(_reported(work))

    def _end(self, server_id: str, task: asyncio.Task[None]) -> None:
        if self._latest.get(server_id) is task:
            del self._latest[server_id]

    async def soon(self, server_id: str) -> None:
        """Return when the work on a server has ended, or after :data:`HOLD_SECONDS`.

        Clients poll every few seconds, and most work here takes a tenth of one. So the first
        response usually shows the final state, and a second action may follow immediately.
        """
        task = self._latest.get(server_id)
        if task is not None:
            await asyncio.wait({task}, timeout=HOLD_SECONDS)

    async def idle(self) -> None:
        """Return when no work is left."""
        await self._tasks.idle()

    async def stop(self) -> None:
        """Cancel all work. Its tasks are in the store."""
        await self._tasks.stop()

    def exited(self, exit: Exit) -> None:  # noqa: A002  (the fabric's word)
        """Record that a server's first process has ended on its own.

        The server is shut off, or boots again if it has requested a reboot.
        """
        server = self._state.servers.get(exit.server_id)
        if exit.asked or server is None:
            return
        if exit.reboot and (server["vm_state"] in _LIVING or server["task_state"] in _BOOTING):
            self._rebooting.add(exit.server_id)
        # The work in progress writes the power state when it ends.
        if server["task_state"] not in _UNMOVED:
            return
        if not self._boot_again(server) and server["vm_state"] in _LIVING:
            vm_state = "resized" if server["vm_state"] == "resized" else "stopped"
            change(self._state, exit.server_id, vm_state=vm_state, power_state=SHUTDOWN)

    def _boot_again(self, server: Document) -> bool:
        """Boot a server that has rebooted itself; false for one that has not."""
        if server["id"] not in self._rebooting or server["task_state"] is not None:
            return False
        self._rebooting.discard(server["id"])
        change(self._state, server["id"], task_state="restarting", action_id=None)
        self.work_on(server["id"])
        return True

    async def _work(self, server_id: str) -> None:
        lock = self._locks.setdefault(server_id, asyncio.Lock())
        # The lock comes first: work that waits for its server must not occupy a slot.
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
            self._rebooted_meanwhile(server)

    def _rebooted_meanwhile(self, worked_on: Document) -> None:
        """Boot a server again that has rebooted itself before its boot was noted as done."""
        server_id = worked_on["id"]
        server = self._state.servers.get(server_id)
        runs = server_id in self._state.cloud.fabric.running()
        if server is None or runs or worked_on["task_state"] not in _BOOTING:
            self._rebooting.discard(server_id)
        elif self._boot_again(server):
            change(self._state, server_id, vm_state="active", power_state=RUNNING)

    def _failed(self, job: Job, server: Document, message: str) -> None:
        actions.finish(self._state, server["action_id"], job.event, message)
        current = self._state.servers.get(server["id"])
        # A deletion that was requested meanwhile takes precedence over the failed task.
        if current is None or (
            current["task_state"] == DELETING and server["task_state"] != DELETING
        ):
            return
        fault_data = fault(self._state, 500, message)
        failed = {**current, "task_state": None, "fault": fault_data, "updated": self._state.now()}
        if job.fatal:
            failed["vm_state"] = "error"
        self._state.servers.put(failed)
