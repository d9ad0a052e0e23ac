"""Detections of drift: compares live objects in the background, and stores the results.

A detection changes nothing, so it is not resumed after a crash. If its process died, it is reported
as failed.
"""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Sequence
from typing import Any

from stoker.engine.model.interfaces import Ports, PublicChange
from stoker.engine.model.requests import Caller
from stoker.engine.model.stack_records.change_sets import Detection
from stoker.engine.model.views import DriftView
from stoker.engine.service.stack_access.guards import require_rest, require_there
from stoker.engine.service.stack_access.lookup import Finder, current_rows, row_of
from stoker.engine.service.stack_access.row_reader import RowReader
from stoker.engine.service.views.drift_reports import LONGEST, DriftReports
from stoker.kernel.addresses import StackAddress
from stoker.kernel.errors import LimitExceededError, NotFoundError, RequestError, fault_reason
from stoker.kernel.logs.log import Log
from stoker.kernel.values import replace

log = Log(__name__)

MOST = 20  # detections that run at the same time
_GRACE = 60.0  # seconds after the longest comparison, for reads of the store


class Detections:
    """Detections of drift, for a caller."""

    def __init__(self, ports: Ports, finder: Finder, reports: DriftReports) -> None:
        self._ports = ports
        self._store = ports.store
        self._finder = finder
        self._reports = reports
        self._tasks: set[asyncio.Task[None]] = set()

    async def begin(
        self, caller: Caller, address: StackAddress, only: Collection[str] | None = None
    ) -> str:
        """Start to compare all objects of a stack, or some; return the id of the detection.

        Raises ActionInProgressError for a stack that is changing.
        """
        stack = await self._finder.at(caller, address)
        require_there(stack)
        require_rest(stack, await self._store.queue(stack.id))
        rows = current_rows(await RowReader(self._ports).outlines(stack))
        for name in only or ():
            row_of(rows, name, stack)
        if len(self._tasks) >= MOST:
            raise LimitExceededError(
                f"{MOST} detections are under way; wait for one of them to end"
            )
        started = self._ports.clock.now()
        detection = Detection(self._ports.ids.uuid(), stack.id, started)
        await self._store.commit(PublicChange(stack.id, puts=(detection,)))
        names = [row.name for row in rows] if only is None else list(only)
        task = asyncio.ensure_future(self._detect(caller, address, names, detection))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return detection.id

    async def _detect(
        self, caller: Caller, address: StackAddress, names: Sequence[str], detection: Detection
    ) -> None:
        fault, found = "", {}
        try:
            views = await self._reports.report(caller, address, names)
            found = {view.resource.name: drift_record(view) for view in views}
        except RequestError as refused:
            fault = refused.message
        except Exception as error:
            log.exception("detection failed", detection=detection.id)
            fault = fault_reason(error)
        now = self._ports.clock.now()
        ended = replace(detection, ended_at=now, fault=fault, found=found)
        await self._store.commit(PublicChange(detection.stack_id, puts=(ended,)))

    async def show(self, caller: Caller, detection_id: str) -> tuple[Detection, StackAddress]:
        """Return a detection, and the address of its stack. Raises NotFoundError."""
        found = await self._store.detection(detection_id)
        stack = None if found is None else await self._store.stack(found.stack_id)
        if found is None or stack is None:
            raise NotFoundError(f"there is no detection {detection_id:.100}")
        await self._finder.at(caller, stack.address)
        died = found.started_at + LONGEST + _GRACE < self._ports.clock.now()
        if found.ended_at is None and died:
            found = replace(found, ended_at=found.started_at, fault="the service has ended first")
        return found, stack.address

    async def latest(self, caller: Caller, address: StackAddress) -> Detection | None:
        """Return a stack's newest drift detection that completed without an error, or None."""
        stack = await self._finder.at(caller, address)
        return await self._store.latest_detection(stack.id)

    async def of_one(self, caller: Caller, address: StackAddress, name: str) -> Detection:
        """Return the drift of one object now; it is not stored."""
        views = await self._reports.report(caller, address, [name])
        if not views:
            raise NotFoundError(f"{name:.255} is a nested stack: look at that one")
        now = self._ports.clock.now()
        return Detection("", address.id, now, now, found={name: drift_record(views[0])})

    async def close(self) -> None:
        """Cancel running detections."""
        tasks = list(self._tasks)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


def drift_record(view: DriftView) -> dict[str, Any]:
    """Return the drift of one resource as it is stored."""
    resource = view.resource
    return {
        "name": resource.name,
        "type": resource.type_name,
        "physical_id": resource.physical_id,
        "state": view.state,
        "reason": view.reason,
        "properties": [[each.name, each.applied, each.live] for each in view.properties],
    }
