"""Counts and states as Prometheus reads them. Loaded with the first request for them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from functools import partial
from typing import Any

from msgspec import Struct
from prometheus_client import CollectorRegistry, ProcessCollector, generate_latest
from prometheus_client.core import (
    CounterMetricFamily,
    GaugeMetricFamily,
    HistogramMetricFamily,
    Metric,
)
from prometheus_client.registry import Collector

from stoker import __version__
from stoker.kernel.load import Load
from stoker.observability.counts import Counts, Histogram, Labels


class Snapshot(Struct, frozen=True):
    """The current state, and the counts."""

    # By status: number of operations, and age of the oldest one in seconds.
    open_operations: Mapping[str, tuple[int, float]]
    database_bytes: int
    transactions: int
    transaction_seconds: float
    loads: Mapping[str, Load]  # by service of the cloud
    connections: Mapping[str, int]  # by interface
    pauses: Mapping[str, Any]  # of the event loop
    work: Any  # the stacks that this process drives, and the distribution of the work
    texts_left: bool  # whether re-encryption with a newer key is still running


def exposition(counts: Counts, snapshot: Snapshot) -> str:
    """The text of an answer, in Prometheus's format."""
    registry = CollectorRegistry()
    registry.register(_Once([*_of_counts(counts), *_of_work(snapshot), *_of_process(snapshot)]))
    ProcessCollector(registry=registry)
    return generate_latest(registry).decode()


class _Once(Collector):
    """Metrics that were made already."""

    def __init__(self, metrics: Iterable[Metric]) -> None:
        self._metrics = metrics

    def collect(self) -> Iterable[Metric]:
        """All of them."""
        return self._metrics


def _of_counts(counts: Counts) -> Iterator[Metric]:
    calls, times = counts.of_calls()
    yield _gauge("info", "The release that runs.", {__version__: 1}, "version")
    yield _counter(
        "operations", "Operations that have ended.", counts.operations, "action", "outcome"
    )
    yield _histogram(
        "operation_seconds",
        "From the acceptance of operations to their end.",
        counts.operation_times,
        "action",
    )
    yield _counter(
        "resource_actions",
        "Actions on resources that have ended.",
        counts.resources,
        "type",
        "action",
        "outcome",
    )
    yield _counter(
        "cloud_calls", "Calls to services of the cloud.", calls, "service", "method", "status"
    )
    yield _histogram("cloud_call_seconds", "How long these calls took.", times, "service")
    yield _counter(
        "requests", "Requests answered.", counts.requests, "interface", "method", "status"
    )
    yield _histogram("request_seconds", "Until answers began.", counts.request_times, "interface")
    yield _counter("changes", "Changes written.", counts.changes)
    yield _counter(
        "changes_lost",
        "Changes of which it is not known whether they were written.",
        counts.lost_changes,
    )


def _of_work(snapshot: Snapshot) -> Iterator[Metric]:
    open_, loads = snapshot.open_operations.items(), snapshot.loads.items()
    yield _gauge(
        "operations_open",
        "Operations that wait or run.",
        {status: count for status, (count, _) in open_},
        "status",
    )
    yield _gauge(
        "oldest_operation_seconds",
        "Age of the oldest operation that waits or runs.",
        {status: age for status, (_, age) in open_},
        "status",
    )
    yield _gauge("database_bytes", "Size of the database.", snapshot.database_bytes)
    yield _counter("commits", "Transactions that changes have shared.", snapshot.transactions)
    yield _counter(
        "commit_seconds", "Time that these transactions took.", snapshot.transaction_seconds
    )
    work = snapshot.work
    yield _gauge("stacks_driven", "Stacks that this process drives.", work.driven)
    yield _gauge("stacks_due", "Stacks that could be driven, and wait for an engine.", work.due)
    yield _gauge(
        "engines",
        "Engines that have reported lately, or no more.",
        {"up": work.engines_up, "down": work.engines_down},
        "status",
    )
    yield _gauge(
        "cloud_places",
        "Calls that a service gets at once.",
        {service: load.places for service, load in loads},
        "service",
    )
    yield _gauge(
        "cloud_waiting",
        "Calls that wait for a place at a service.",
        {service: load.waiting for service, load in loads},
        "service",
    )


def _of_process(snapshot: Snapshot) -> Iterator[Metric]:
    pauses = snapshot.pauses
    yield _gauge("connections", "Open connections of clients.", snapshot.connections, "interface")
    yield _counter(
        "event_loop_pauses",
        "Pauses of the event loop of more than 50 ms.",
        pauses["pauses_over_50_ms"],
    )
    yield _gauge("event_loop_longest_pause_seconds", "The longest.", pauses["longest_pause"])
    yield _gauge(
        "event_loop_lag_seconds",
        "How late a timer of the event loop is, on average of the last second.",
        pauses["lag"],
    )
    yield _gauge(
        "reencrypting",
        "1 while what is stored is being encrypted with a newer key.",
        int(snapshot.texts_left),
    )


def _family(
    kind: type[CounterMetricFamily | GaugeMetricFamily],
    name: str,
    help_: str,
    values: Mapping[Labels, float] | Mapping[str, float] | float,
    *labels: str,
) -> Metric:
    """Return a metric with one value, or one for each value of its labels."""
    if not isinstance(values, Mapping):
        return kind(f"stoker_{name}", help_, value=values)
    family = kind(f"stoker_{name}", help_, labels=labels)
    for key, value in list(values.items()):
        family.add_metric((key,) if isinstance(key, str) else key, value)
    return family


_counter = partial(_family, CounterMetricFamily)
_gauge = partial(_family, GaugeMetricFamily)


def _histogram(
    name: str, help_: str, values: Mapping[Labels, Histogram], *labels: str
) -> HistogramMetricFamily:
    family = HistogramMetricFamily(f"stoker_{name}", help_, labels=labels)
    for key, histogram in list(values.items()):
        total, buckets = 0, []
        for bound, count in zip((*histogram.bounds, "+Inf"), list(histogram.counts), strict=True):
            total += count
            buckets.append((str(bound), total))
        family.add_metric(key, buckets, histogram.sum)
    return family
