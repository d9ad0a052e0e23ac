"""Counts and states as Prometheus reads them. Loaded with the first request for them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
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
    yield _gauge("info", "The release that runs.", ["version"], {(__version__,): 1})
    yield _counter(
        "operations", "Operations that have ended.", ["action", "outcome"], counts.operations
    )
    yield _histogram(
        "operation_seconds",
        "From the acceptance of operations to their end.",
        ["action"],
        counts.operation_times,
    )
    yield _counter(
        "resource_actions",
        "Actions on resources that have ended.",
        ["type", "action", "outcome"],
        counts.resources,
    )
    yield _counter(
        "cloud_calls", "Calls to services of the cloud.", ["service", "method", "status"], calls
    )
    yield _histogram("cloud_call_seconds", "How long these calls took.", ["service"], times)
    yield _counter(
        "requests", "Requests answered.", ["interface", "method", "status"], counts.requests
    )
    yield _histogram("request_seconds", "Until answers began.", ["interface"], counts.request_times)
    yield _counter("changes", "Changes written.", [], {(): counts.changes})
    yield _counter(
        "changes_lost",
        "Changes of which it is not known whether they were written.",
        [],
        {(): counts.lost_changes},
    )


def _of_work(snapshot: Snapshot) -> Iterator[Metric]:
    open_ = snapshot.open_operations
    yield _gauge(
        "operations_open",
        "Operations that wait or run.",
        ["status"],
        {(status,): count for status, (count, _) in open_.items()},
    )
    yield _gauge(
        "oldest_operation_seconds",
        "Age of the oldest operation that waits or runs.",
        ["status"],
        {(status,): age for status, (_, age) in open_.items()},
    )
    yield _gauge("database_bytes", "Size of the database.", [], {(): snapshot.database_bytes})
    yield _counter(
        "commits", "Transactions that changes have shared.", [], {(): snapshot.transactions}
    )
    yield _counter(
        "commit_seconds",
        "Time that these transactions took.",
        [],
        {(): snapshot.transaction_seconds},
    )
    yield from _of_sharing(snapshot.work)
    loads = snapshot.loads.items()
    yield _gauge(
        "cloud_places",
        "Calls that a service gets at once.",
        ["service"],
        {(service,): load.places for service, load in loads},
    )
    yield _gauge(
        "cloud_waiting",
        "Calls that wait for a place at a service.",
        ["service"],
        {(service,): load.waiting for service, load in loads},
    )


def _of_sharing(work: Any) -> Iterator[Metric]:
    yield _gauge("stacks_driven", "Stacks that this process drives.", [], {(): work.driven})
    yield _gauge(
        "stacks_due", "Stacks that could be driven, and wait for an engine.", [], {(): work.due}
    )
    yield _gauge(
        "engines",
        "Engines that have reported lately, or no more.",
        ["status"],
        {("up",): work.engines_up, ("down",): work.engines_down},
    )


def _of_process(snapshot: Snapshot) -> Iterator[Metric]:
    yield _gauge(
        "connections",
        "Open connections of clients.",
        ["interface"],
        {(interface,): count for interface, count in snapshot.connections.items()},
    )
    pauses = snapshot.pauses
    yield _counter(
        "event_loop_pauses",
        "Pauses of the event loop of more than 50 ms.",
        [],
        {(): pauses["pauses_over_50_ms"]},
    )
    yield _gauge(
        "event_loop_longest_pause_seconds", "The longest.", [], {(): pauses["longest_pause"]}
    )
    yield _gauge(
        "event_loop_lag_seconds",
        "How late a timer of the event loop is, on average of the last second.",
        [],
        {(): pauses["lag"]},
    )
    yield _gauge(
        "reencrypting",
        "1 while what is stored is being encrypted with a newer key.",
        [],
        {(): int(snapshot.texts_left)},
    )


def _counter(
    name: str, help_: str, labels: list[str], values: Mapping[Labels, float]
) -> CounterMetricFamily:
    family = CounterMetricFamily(f"stoker_{name}", help_, labels=labels)
    for key, value in list(values.items()):
        family.add_metric(key, value)
    return family


def _gauge(
    name: str, help_: str, labels: list[str], values: Mapping[Labels, float]
) -> GaugeMetricFamily:
    family = GaugeMetricFamily(f"stoker_{name}", help_, labels=labels)
    for key, value in values.items():
        family.add_metric(key, value)
    return family


def _histogram(
    name: str, help_: str, labels: list[str], values: Mapping[Labels, Histogram]
) -> HistogramMetricFamily:
    family = HistogramMetricFamily(f"stoker_{name}", help_, labels=labels)
    for key, histogram in list(values.items()):
        total, buckets = 0, []
        for bound, count in zip((*histogram.bounds, "+Inf"), list(histogram.counts), strict=True):
            total += count
            buckets.append((str(bound), total))
        family.add_metric(key, buckets, histogram.sum)
    return family
