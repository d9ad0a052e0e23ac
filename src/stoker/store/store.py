"""The store: the engine's port to its rows.

SQLAlchemy's plain connections, used on threads: one thread writes, a few read.
"""

from __future__ import annotations

import sqlalchemy as sa

from stoker.engine.model.interfaces import Change, Observer
from stoker.engine.model.records import AcquiredStack, Stack, TreeState
from stoker.store.maintenance import purging
from stoker.store.maintenance.tidying import tidy
from stoker.store.ownership import acquire
from stoker.store.ownership.acquire import Defer
from stoker.store.read import trees
from stoker.store.read.reads import SqlReads
from stoker.store.read.search import SqlOverview
from stoker.store.records.change_sets import SqlChangeSets
from stoker.store.records.software import SqlSoftware
from stoker.store.records.watches import SqlWatches
from stoker.store.sql.encryption import Cipher
from stoker.store.sql.runners import Runner
from stoker.store.write.force_fail import give_up
from stoker.store.write.group_commit import GroupCommit


class SqlStore(SqlReads, SqlChangeSets, SqlSoftware, SqlWatches, SqlOverview):
    """Rows in a relational database."""

    def __init__(
        self,
        engine: sa.Engine,
        cipher: Cipher,
        runner: Runner,
        *,
        notifies: bool = False,
        defer: Defer | None = None,
    ) -> None:
        """``notifies`` says whether commits leave messages for the bus; ``defer`` has stacks
        driven that many engines share.
        """
        super().__init__(engine, cipher, runner)
        self._commits = GroupCommit(engine, cipher, runner, notifies=notifies, defer=defer)
        self.outbox = self._commits.outbox

    @property
    def commits(self) -> tuple[int, float]:
        """Return the number of transactions, and their total seconds."""
        return self._commits.transactions, self._commits.seconds

    @property
    def latency(self) -> float:
        """The seconds that the latest transaction took; 0 if it is long ago."""
        return self._commits.latency

    def observe(self, observer: Observer) -> None:
        """Notify the observer of every change from now on."""
        self._commits.observers.append(observer)

    async def commit(self, change: Change) -> None:
        """Write a change; see :class:`stoker.engine.model.interfaces.Store`."""
        await self._commits.enter(change)

    async def room(self, wanted: int) -> int:
        """Wait for room; return for how many of the wanted changes there is."""
        return await self._commits.room.get(wanted)

    async def rehearse(self, change: Change) -> None:
        """Write a change and roll it back: the first commit then finds its statements compiled."""
        await self._commits.rehearse(change)

    async def acquire(self, stack_id: str) -> AcquiredStack | None:
        """Raise the fencing token of a stack that has something to do, and return the stack."""
        return await self._commits.acquire(stack_id)

    async def count_attempt(self, stack: Stack) -> None:
        """Count one more acquisition. Raises FencedError."""
        await self._commits.run(lambda connection: acquire.count(connection, stack))

    async def reset_attempts(self, stack: Stack) -> None:
        """Reset the count."""
        await self._commits.run(lambda connection: acquire.forget(connection, stack))

    async def release(self, stack: Stack) -> None:
        """Release a stack. Raises FencedError."""
        await self._commits.run(lambda connection: acquire.release(connection, stack))

    async def give_up(self, stack_id: str, reason: str, now: float) -> None:
        """End as failed the operations of a stack, whatever its rows hold."""
        await self._commits.run(
            lambda connection: give_up(connection, stack_id, reason, now, self.outbox)
        )

    async def tree(self, stack_id: str) -> TreeState:
        """Return the state of a stack and of those nested in it."""
        batched = trees.STATES_OF, trees.STATES_BELOW
        return await self._read_rows_of_one_moment(batched, stack_id, trees.tree)

    async def count_resources(self, root_id: str, besides: str) -> int:
        """The resources of the live stacks of a tree, one stack left out."""
        return await self._read(
            lambda connection: trees.count_resources(connection, root_id, besides)
        )

    async def values_size(self, root_id: str, stack_id: str) -> tuple[int, int]:
        """Bytes of the values of a stack's resources, and of those of the rest of its tree."""
        return await self._read(lambda connection: trees.values_size(connection, root_id, stack_id))

    async def tidy(self, stack_id: str, events: int) -> None:
        """Drop inputs and events that are no longer needed."""
        await self._commits.run(lambda connection: tidy(connection, stack_id, events))

    async def purge_stacks(self, before: float, project_id: str | None = None) -> int:
        """Delete a few stacks that were deleted before a time, of a project or of all; how many."""
        gone = await self._read(
            lambda connection: purging.deleted_stacks(connection, before, project_id)
        )
        if gone:
            await self._commits.run(lambda connection: purging.purge_stacks(connection, gone))
        return len(gone)

    async def purge_history(self, before: float) -> int:
        """Delete some events and ended operations that are older than a time; how many."""
        return await self._commits.run(lambda connection: purging.purge_history(connection, before))
