"""Work of operators on the database, whether or not the service runs.

Takes the configuration. Each method opens the database, does one thing and closes it; the store
runs the same code as in the service. The ``stoker`` command calls it.
Tested by tests/operators.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Coroutine, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeVar

from msgspec import Struct

from stoker.config.database import DatabaseSettings
from stoker.engine.model.interfaces import StoreError
from stoker.engine.model.records import Status
from stoker.kernel.clock import SystemClock
from stoker.kernel.errors import NotFoundError
from stoker.store.maintenance.copying import copy
from stoker.store.maintenance.inspection import Inspection
from stoker.store.opening import OpenStore
from stoker.store.ownership.engines import DOWN_AFTER, EngineRecord, SqlEngines, engines_in
from stoker.store.sql.databases import REVISION
from stoker.store.sql.foreign import UnusableDatabaseError
from stoker.store.sql.keys import add_key, drop_earlier_keys, keys_in

Answer = TypeVar("Answer")
RESET = "Stack status manually reset"  # the reason of rows that an operator has set to failed


class Keys(Struct, frozen=True):
    """The encryption keys, with the number of texts of each."""

    newest: str  # id of the key that encrypts
    texts: Mapping[str, int]  # number of texts that each key has encrypted, by its id

    @property
    def earlier(self) -> Mapping[str, int]:
        """Return the numbers of texts of earlier keys that are still needed."""
        return {key: count for key, count in self.texts.items() if key != self.newest and count}


class SeenEngine(Struct, frozen=True):
    """An engine with its last report, and whether it is alive."""

    record: EngineRecord
    up: bool


class Administration:
    """The database of a configuration.

    Methods raise ``UnusableDatabaseError``, a ValueError, if it cannot be used, and
    :class:`stoker.kernel.errors.NotFoundError`.
    """

    def __init__(self, settings: DatabaseSettings) -> None:
        self._settings = settings
        self._data_dir = settings.data_dir

    def upgrade(self) -> str:
        """Create or upgrade the tables. Return the revision."""
        self._opened().close()
        return REVISION

    def revision(self) -> str | None:
        """Return the revision of the schema; None for an empty database."""
        return self._inspection().revision()

    def faults(self) -> list[str]:
        """Return the faults of the database, in sentences."""
        return self._inspection().faults()

    def back_up(self, target: Path) -> None:
        """Copy the database to a file, whether the service runs or not."""
        self._inspection().back_up(target)

    def copy(self, target: str) -> int:
        """Copy the database into an empty one with this URL. Return the number of rows.

        Raises UnusableDatabaseError if a service uses one of them.
        """
        inspection = self._inspection()
        for fault in inspection.faults():
            raise UnusableDatabaseError(f"the database is not copied: {fault}")
        try:
            return copy(inspection.url, target)
        except StoreError as fault:
            raise UnusableDatabaseError(str(fault)) from None

    def purge(self, age: float, project_id: str | None = None) -> int:
        """Purge stacks that were deleted ``age`` seconds ago; return their number."""

        async def purge(opened: OpenStore) -> int:
            before, gone = SystemClock().now() - age, 0
            while found := await opened.store.purge_stacks(before, project_id):
                gone += found
            return gone

        return self._with(purge)

    def purge_history(self, age: float) -> int:
        """Delete events and ended operations that are ``age`` seconds old; return their number."""

        async def purge(opened: OpenStore) -> int:
            before, gone = SystemClock().now() - age, 0
            while found := await opened.store.purge_history(before):
                gone += found
            return gone

        return self._with(purge)

    def reset_status(self, stack_id: str) -> Sequence[str]:
        """Set a stack and its nested stacks in progress to failed. Return the ids of these."""

        async def reset(opened: OpenStore) -> Sequence[str]:
            store, done, open_ = opened.store, [], [stack_id]
            if await store.stack(stack_id) is None:
                raise NotFoundError(f"there is no stack {stack_id}")
            while open_:
                current = open_.pop()
                stack = await store.stack(current)
                queue = await store.queue(current)
                open_ += [child.id for child in await store.children(current)]
                if queue or (stack is not None and stack.status is Status.IN_PROGRESS):
                    await store.give_up(current, RESET, SystemClock().now())
                    done.append(current)
            return done

        return self._with(reset)

    def resource_data(self, resource_id: str) -> Mapping[str, Any]:
        """Return a resource type's data about its object, decrypted."""

        async def data(opened: OpenStore) -> Mapping[str, Any]:
            row = await opened.store.resource(resource_id)
            if row is None:
                raise NotFoundError(f"there is no resource {resource_id}")
            return dict(row.data)

        return self._with(data)

    def engines(self) -> Sequence[SeenEngine]:
        """Return the engines that share the database; none for a single process."""

        async def seen(engines: SqlEngines) -> Sequence[SeenEngine]:
            now = await engines.now()
            return [SeenEngine(record, record.is_up(now)) for record in await engines.all()]

        return self._of_engines(seen, [])

    def forget_dead_engines(self) -> int:
        """Drop the records of engines that are down; return their number."""

        async def forget(engines: SqlEngines) -> int:
            return await engines.forget(await engines.now() - DOWN_AFTER)

        return self._of_engines(forget, 0)

    def keys(self) -> Keys:
        """Return the keys of the stored texts. Reads all of them."""

        async def count(opened: OpenStore) -> Keys:
            earlier = opened.reencryption
            return Keys(earlier.newest, await earlier.left())

        return self._with(count)

    def add_key(self) -> None:
        """Add a new key to the key file. The earlier keys still decrypt."""
        # Open the database first. It is upgraded, and a wrong key is reported.
        self._opened().close()
        add_key(self._data_dir)

    def reencrypt(self) -> None:
        """Re-encrypt the texts of earlier keys."""

        async def renew(opened: OpenStore) -> None:
            while await opened.reencryption.step():
                pass

        self._with(renew)

    def drop_earlier_keys(self) -> int:
        """Delete all keys of the key file except the newest. Return the number of deleted ones.

        Raises ValueError if texts are still encrypted with them.
        """
        left = self.keys().earlier
        if left:
            raise ValueError(
                f"{sum(left.values())} texts are still encrypted with earlier keys; the service"
                " re-encrypts them while it runs; or do it now with --finish"
            )
        return drop_earlier_keys(self._data_dir) if keys_in(self._data_dir)[1:] else 0

    def _inspection(self) -> Inspection:
        return Inspection(self._settings.url, self._data_dir)

    def _of_engines(
        self, work: Callable[[SqlEngines], Coroutine[Any, Any, Answer]], of_none: Answer
    ) -> Answer:
        url = self._settings.url
        if not url:
            return of_none
        try:
            with engines_in(url) as engines:
                return of_none if engines is None else asyncio.run(work(engines))
        except StoreError as fault:
            raise UnusableDatabaseError(str(fault)) from None

    def _opened(self) -> OpenStore:
        settings = self._settings
        return OpenStore(settings.url, self._data_dir, settings.key, settings.earlier_keys)

    def _with(self, work: Callable[[OpenStore], Awaitable[Answer]]) -> Answer:
        async def run() -> Answer:
            opened = self._opened()
            try:
                return await work(opened)
            except StoreError as fault:
                raise UnusableDatabaseError(str(fault)) from None
            finally:
                opened.close()

        return asyncio.run(run())
