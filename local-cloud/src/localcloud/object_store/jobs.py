"""Expiry of objects: they are hidden immediately, and deleted soon after."""

import asyncio
from heapq import heapify, heappop, heappush

from localcloud.core.cloud import Cloud
from localcloud.core.store import Document
from localcloud.object_store.model.data import DataFiles
from localcloud.object_store.model.records import Records

_PERIOD_SECONDS = 5.0
_MOST_AT_ONCE = 100  # objects deleted in one transaction


class Expiry:
    """Deletes expired objects while the cloud runs."""

    def __init__(self, cloud: Cloud, records: Records, files: DataFiles) -> None:
        self._store = cloud.store
        self._records = records
        self._files = files
        self._due: list[tuple[int, str]] = []
        self._gather()
        records.objects.watch(self._changed)
        self._next: asyncio.TimerHandle | None = None

    def start(self) -> None:
        """Start to delete expired objects."""
        loop = asyncio.get_running_loop()
        self._next = loop.call_later(_PERIOD_SECONDS, self.start)
        # Records first. Files that remain because the process ends are removed by the next start.
        loop.run_in_executor(None, self._files.remove_now, self.sweep())

    def stop(self) -> None:
        """Stop the deletions."""
        if self._next is not None:
            self._next.cancel()

    def sweep(self) -> list[str]:
        """Delete the records of some expired objects; returns their files."""
        now = self._records.now()
        files: list[str] = []
        with self._store.transaction():
            while self._due and self._due[0][0] <= now and len(files) < _MOST_AT_ONCE:
                _, key = heappop(self._due)
                # The object may have been replaced, or got another time, since it was added.
                item = self._records.objects.get(key)
                if item is not None and item["delete_at"] and item["delete_at"] <= now:
                    self._records.objects.delete(key)
                    files.append(item["data"])
        return files

    def _changed(self, before: Document | None, after: Document | None) -> None:
        if after is not None and after["delete_at"]:
            heappush(self._due, (after["delete_at"], after["id"]))
            if len(self._due) > 2 * len(self._records.objects) + _MOST_AT_ONCE:
                # An object that was changed many times has as many entries.
                self._gather()

    def _gather(self) -> None:
        objects = self._records.objects.values()
        self._due = [(each["delete_at"], each["id"]) for each in objects if each["delete_at"]]
        heapify(self._due)
