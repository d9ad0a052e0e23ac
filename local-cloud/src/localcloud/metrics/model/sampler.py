"""Measures the servers every few seconds, as long as clients ask for metrics."""

import asyncio
import logging
from dataclasses import dataclass

from localcloud.core.cloud import Cloud
from localcloud.fabric.interface import FabricError
from localcloud.metrics.model.series import Series
from localcloud.metrics.model.server_resources import Reading, ServerResources

_LOG = logging.getLogger(__name__)
PERIOD = 5
# Measuring continues for this time after the last request: three spans of the longest granularity.
_WANTED_SECONDS = 900


@dataclass
class _Counter:
    """A counter that continues when the counter of a server restarts at zero."""

    last: float = 0.0
    total: float = 0.0

    def count(self, value: float) -> float:
        self.total += value - self.last if value >= self.last else value
        self.last = value
        return self.total


class Sampler:
    """The measures of servers. They are kept in memory and start empty with the cloud."""

    def __init__(self, cloud: Cloud, resources: ServerResources) -> None:
        self._cloud = cloud
        self._resources = resources
        self._series: dict[str, Series] = {}
        self._counters: dict[str, _Counter] = {}
        self._wanted_until = 0.0
        self._task: asyncio.Task[None] | None = None

    def series(self, metric_id: str) -> Series:
        """Return the series of a metric."""
        return self._series.get(metric_id) or Series()

    def wake(self) -> None:
        """Measure from now on, for a while."""
        self._wanted_until = self._now() + _WANTED_SECONDS
        if self._task is None or self._task.done():
            self._task = asyncio.get_running_loop().create_task(self._run())

    async def idle(self) -> None:
        """Return when the measuring has ended because no client asked for a while."""
        if self._task is not None:
            await asyncio.gather(self._task, return_exceptions=True)

    async def stop(self) -> None:
        """Measure no longer."""
        if self._task is not None:
            self._task.cancel()
        await self.idle()

    async def measure(self) -> None:
        """Measure all servers once."""
        usages = await self._cloud.fabric.usage()
        now = self._now()
        for reading in self._resources.readings(usages):
            series = self._series.setdefault(reading.metric_id, Series())
            series.add([(now, self._value(reading))])
        known = self._resources.metrics()
        for forgotten in self._series.keys() - known.keys():
            del self._series[forgotten]
            self._counters.pop(forgotten, None)

    def _value(self, reading: Reading) -> float:
        if not reading.counts:
            return reading.value
        return self._counters.setdefault(reading.metric_id, _Counter()).count(reading.value)

    async def _run(self) -> None:
        while self._now() < self._wanted_until:
            try:
                await self.measure()
            except (FabricError, OSError) as error:
                _LOG.warning("servers could not be measured: %s", error)
            await self._cloud.clock.sleep(PERIOD - self._now() % PERIOD)

    def _now(self) -> float:
        return self._cloud.clock.now().timestamp()
