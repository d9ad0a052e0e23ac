"""Counts events in plain numbers in memory, which cost next to nothing and start at zero.

Labels are bounded: any value that a user can choose is counted as "other".
"""

from __future__ import annotations

import time
from bisect import bisect_left
from collections import Counter, defaultdict
from collections.abc import Callable
from threading import Lock

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from stoker.engine.model.interfaces import Observer
from stoker.engine.model.records import Event, Operation, Status
from stoker.engine.model.storage.changes import Change, records_of
from stoker.kernel.clock import Clock

OF_CALLS = (0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0)
OF_OPERATIONS = (1.0, 5.0, 15.0, 60.0, 300.0, 900.0, 1800.0, 3600.0, 7200.0)
OTHER = "other"
_NO_ANSWER = "none"
_METHODS = frozenset(("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"))
_ENDED = (Status.COMPLETE, Status.FAILED)
Labels = tuple[str, ...]


class Histogram:
    """A histogram of durations in seconds."""

    __slots__ = ("bounds", "counts", "sum")

    def __init__(self, bounds: tuple[float, ...]) -> None:
        self.bounds = bounds
        # By the first bound that is not exceeded; the last is for values above all.
        self.counts = [0] * (len(bounds) + 1)
        self.sum = 0.0

    def add(self, seconds: float) -> None:
        """Count one more."""
        self.counts[bisect_left(self.bounds, seconds)] += 1
        self.sum += seconds


class Counts(Observer):
    """The counts of this process."""

    def __init__(self, clock: Clock, knows_type: Callable[[str], bool]) -> None:
        self._clock = clock
        self._knows_type = knows_type
        self._lock = Lock()  # for counts from worker threads
        self.operations: Counter[Labels] = Counter()  # by action and outcome
        # By action.
        self.operation_times: dict[Labels, Histogram] = defaultdict(
            lambda: Histogram(OF_OPERATIONS)
        )
        self.resources: Counter[Labels] = Counter()  # by type, action and outcome
        self.changes = 0
        self.lost_changes = 0  # changes with an unknown outcome
        self.cloud_calls: Counter[Labels] = Counter()  # by service, method and status
        # By service.
        self.cloud_times: dict[Labels, Histogram] = defaultdict(lambda: Histogram(OF_CALLS))
        self.requests: Counter[Labels] = Counter()  # by interface, method and status
        # By interface.
        self.request_times: dict[Labels, Histogram] = defaultdict(lambda: Histogram(OF_CALLS))

    def committed(self, change: Change, *, certain: bool) -> None:
        """Count the ended operations and the actions on resources of a change."""
        if not certain:
            self.lost_changes += 1
            return
        self.changes += 1
        for operation in records_of(change, Operation):
            if operation.status.final:
                self._count_operation(operation)
        for event in records_of(change, Event):
            if event.status in _ENDED and event.resource_id is not None:
                known = self._knows_type(event.resource_type)
                type_name = event.resource_type if known else OTHER
                self.resources[type_name, event.action.value, event.status.value] += 1

    def _count_operation(self, operation: Operation) -> None:
        action = operation.action.value
        self.operations[action, operation.status.value] += 1
        self.operation_times[(action,)].add(max(self._clock.now() - operation.created_at, 0.0))

    def called(self, service: str, status: int, seconds: float, kind: str) -> None:
        """Count a call to a service of a cloud; a status of 0 if no answer came. Any thread."""
        method = kind.partition(" ")[0]
        outcome = str(status) if status else _NO_ANSWER
        with self._lock:
            self.cloud_calls[service, method if method in _METHODS else OTHER, outcome] += 1
            self.cloud_times[(service,)].add(seconds)

    def of_calls(self) -> tuple[dict[Labels, int], dict[Labels, Histogram]]:
        """The calls to clouds, for a thread that reads them."""
        with self._lock:
            return dict(self.cloud_calls), dict(self.cloud_times)

    def requested(self, interface: str, method: str, status: int, seconds: float) -> None:
        """Count a request that was answered."""
        self.requests[interface, method if method in _METHODS else OTHER, str(status)] += 1
        self.request_times[(interface,)].add(seconds)


class CountedRequests:
    """An application whose requests are counted."""

    def __init__(self, application: ASGIApp, counts: Counts, interface: str) -> None:
        self._application = application
        self._counts = counts
        self._interface = interface

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on, and count its answer."""
        started = time.monotonic()

        async def noting(message: Message) -> None:
            if message["type"] == "http.response.start":
                took = time.monotonic() - started
                self._counts.requested(self._interface, scope["method"], message["status"], took)
            await send(message)

        await self._application(scope, receive, noting)
