"""Metrics: accepts measurements, and stores them for the alarms that watch them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from msgspec import structs

from stoker.engine.model.interfaces import Guard, Ports, PublicChange, TransactionReader
from stoker.engine.model.requests import Caller
from stoker.engine.model.stack_records.watches import Datum, Watch, WatchMeasurement
from stoker.engine.service.monitoring.alarms import Alarms, AlarmView
from stoker.kernel.errors import ValidationError
from stoker.schema.watching import Measurement

ALARM_NAME = "AlarmName"  # dimension of a measurement that names its alarm
OLDEST = 14 * 86400.0  # seconds that a measurement may be old, as at AWS
_LARGEST = 2.0**360  # as at AWS; sums of such numbers stay finite
_AHEAD = 2 * 3600.0  # seconds that a sender's clock may be ahead


class _WatchDeletedError(Exception):
    """The watch was deleted in the meantime."""


class Metrics:
    """Accepts and returns measurements."""

    def __init__(self, ports: Ports, alarms: Alarms) -> None:
        self._ports = ports
        self._alarms = alarms

    async def put(self, caller: Caller, namespace: str, data: Sequence[Datum]) -> None:
        """Store measurements, each for the alarm that it names, or for all that watch its metric.

        Measurements of unwatched metrics are accepted and dropped. Raises ValidationError for
        implausible values, and NotFoundError for an alarm that does not exist. Nothing is stored
        then.
        """
        now = self._ports.clock.now()
        known: dict[tuple[str, str | None], Sequence[AlarmView]] = {}
        measured_by_watch: dict[Watch, list[Measurement]] = {}
        for datum in data:
            # Check all measurements before the first is stored. One invalid measurement rejects
            # them all.
            measured = _measurement(datum, now)
            key = datum.metric, datum.dimensions.get(ALARM_NAME)
            if key not in known:
                known[key] = await self._watching(caller, namespace, *key)
            for alarm in known[key]:
                if key[1] or alarm.rule.dimensions.items() <= datum.dimensions.items():
                    measured_by_watch.setdefault(alarm.watch, []).append(measured)
        for watch, measurements in measured_by_watch.items():
            puts = [
                WatchMeasurement(**structs.asdict(each), resource_id=watch.resource_id)
                for each in measurements
            ]
            try:
                await self._ports.store.commit(
                    PublicChange(watch.stack_id, puts, guards=(_there(watch),))
                )
            except _WatchDeletedError:
                continue

    async def series(
        self,
        caller: Caller,
        metric: tuple[str, str],
        dimensions: Mapping[str, str],
        since: float,
    ) -> Sequence[Measurement]:
        """Return the measurements of a metric since then, oldest first.

        They are those of the oldest alarm with all of the ``dimensions``; see
        :func:`dimensions_of`.
        """
        found = [
            alarm.watch
            for alarm in await self._alarms.watching(caller, metric)
            if dimensions.items() <= dimensions_of(alarm).items()
        ]
        if not found:
            return []
        oldest = min(found, key=lambda watch: watch.created_at)
        return await self._ports.store.measurements(oldest.resource_id, since)

    async def _watching(
        self, caller: Caller, namespace: str, metric: str, name: str | None
    ) -> Sequence[AlarmView]:
        if name is None:
            return await self._alarms.watching(caller, (namespace, metric))
        found = await self._alarms.shown(caller, name)
        for alarm in found:
            if alarm.rule.metric != metric:
                raise ValidationError(
                    f"the alarm {name} watches {alarm.rule.metric}, not {metric:.255}"
                )
        return found


def dimensions_of(alarm: AlarmView) -> dict[str, str]:
    """Return the dimensions of an alarm's measurements, including its name."""
    return {**alarm.rule.dimensions, ALARM_NAME: alarm.watch.name}


def _measurement(datum: Datum, now: float) -> Measurement:
    """Return a datum as the measurement to store. Raises ValidationError."""
    numbers = (datum.total, datum.count, datum.least, datum.most)
    if not all(abs(each) <= _LARGEST for each in numbers if each is not None):  # also rejects NaN
        raise ValidationError(
            f"the values of {datum.metric:.255} must be numbers up to 2 to the 360th"
        )
    if datum.count <= 0:
        raise ValidationError(f"{datum.metric:.255} was measured {datum.count:g} times")
    if datum.least is not None and datum.most is not None and datum.least > datum.most:
        raise ValidationError(f"the least value of {datum.metric:.255} is larger than the largest")
    at = now if datum.at is None else datum.at
    if not now - OLDEST <= at <= now + _AHEAD:
        raise ValidationError(
            f"{datum.metric:.255} was measured too long ago, or too far in the future"
        )
    return Measurement(at, datum.total, datum.unit, datum.count, datum.least, datum.most)


def _there(watch: Watch) -> Guard:
    """Return a guard that raises if the watch was deleted."""

    def guard(inside: TransactionReader) -> None:
        if inside.watch(watch.resource_id) is None:
            raise _WatchDeletedError

    return guard
