"""One operation of a stack as bars: an action on a resource, from its start to its end.

The input is the events of a stack and of the stacks nested in it. An event IN_PROGRESS of the
stack itself starts an operation, which lasts until the next one. Of a replaced resource, the end of
the update and the create of the new object are one bar; the delete of the old object is another.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from msgspec import Struct

from stoker.cli.client.stacks import Event, Resource, Stack
from stoker.cli.deploy.progress import event_path
from stoker.cli.deploy.tree import PLAIN_REASONS
from stoker.kernel.values import replace

REPLACE = "REPLACE"
_ABORTED = ("aborted", "cancelled")  # Reasons of resources that did not fail on their own.


class Note(Struct, frozen=True):
    """Something that happened to a resource: a signal, a repeated call, a hook."""

    at: float
    text: str


class Bar(Struct, frozen=True):
    """An action on a resource. Times are in seconds since the epoch."""

    path: tuple[str, ...]
    action: str
    start: float
    end: float | None  # None while it is in progress
    status: str  # COMPLETE, FAILED or IN_PROGRESS
    reason: str = ""
    notes: tuple[Note, ...] = ()

    @property
    def name(self) -> str:
        """Return the path from the stack."""
        return "/".join(self.path)

    def seconds(self, now: float) -> float:
        """Return how long it took, or has taken until now."""
        return max((now if self.end is None else self.end) - self.start, 0.0)


class Operation(Struct, frozen=True):
    """An operation with its bars, in the order of their starts."""

    action: str
    status: str
    reason: str
    start: float
    end: float | None
    bars: tuple[Bar, ...]

    @property
    def state(self) -> str:
        """Return action and status as one word."""
        return f"{self.action}_{self.status}"

    def ends_at(self, now: float) -> float:
        """Return the end; for an operation in progress now, or its last event if that is later."""
        if self.end is not None:
            return self.end
        return max([now, self.start, *(bar.end or bar.start for bar in self.bars)])


def with_waits(
    operation: Operation,
    resources: Sequence[Resource],
    paths: Mapping[str, tuple[str, ...]],
    now: float,
) -> Operation:
    """Return an operation with the current waits of its bars in progress.

    A wait may be for the repetition of a call, which is no event.
    """
    waits = {(*paths.get(r.stack_id, ()), r.name): r.waiting_for for r in resources}
    bars = []
    for bar in operation.bars:
        words = " ".join((waits.get(bar.path) or "").split()) if bar.end is None else ""
        if words and words not in PLAIN_REASONS and all(words != note.text for note in bar.notes):
            bar = replace(bar, notes=(*bar.notes, Note(now, words)))
        bars.append(bar)
    return replace(operation, bars=tuple(bars))


def first_failure(operation: Operation) -> Bar | None:
    """Return the bar that failed first on its own, which is the likely root cause."""
    failed = [bar for bar in operation.bars if bar.status == "FAILED" and bar.end is not None]
    own = [bar for bar in failed if not any(word in bar.reason.lower() for word in _ABORTED)]
    return min(own or failed, key=lambda bar: (bar.end, -len(bar.path)), default=None)


def is_start(event: Event, stack: Stack) -> bool:
    """Return whether an event starts an operation of the stack."""
    is_own = event.is_of_stack and event.stack_id == stack.id
    return is_own and event.state.endswith("_IN_PROGRESS")


def operations_of(
    events: Iterable[Event], stack: Stack, paths: Mapping[str, tuple[str, ...]]
) -> Iterator[Operation]:
    """Yield the operations in events that are sorted from old to new. ``paths`` is by stack id."""
    course: list[Event] = []
    for event in events:
        if is_start(event, stack) and course:
            yield _ended(_operation(course, stack, paths))
            course = []
        if course or is_start(event, stack):
            course.append(event)
    if course:
        yield _operation(course, stack, paths)


def _ended(operation: Operation) -> Operation:
    """Return an operation that another one followed. If it was superseded, it has no end event."""
    if operation.end is not None:
        return operation
    end = operation.ends_at(0.0)
    bars = tuple(bar if bar.end is not None else replace(bar, end=end) for bar in operation.bars)
    return replace(operation, status="SUPERSEDED", end=end, bars=bars)


@dataclass(slots=True)
class _OpenBar:
    """A bar whose events are being read."""

    path: tuple[str, ...]
    action: str
    start: float
    end: float | None = None
    status: str = "IN_PROGRESS"
    reason: str = ""
    notes: list[Note] = field(default_factory=list)

    def closed(self) -> Bar:
        """Return the bar as a value."""
        reason = "" if self.reason in PLAIN_REASONS else " ".join(self.reason.split())
        notes = tuple(self.notes)
        return Bar(self.path, self.action, self.start, self.end, self.status, reason, notes)


def _operation(
    events: Sequence[Event], stack: Stack, paths: Mapping[str, tuple[str, ...]]
) -> Operation:
    first, last_of_stack = events[0], events[0]
    bars: list[_OpenBar] = []
    latest: dict[tuple[str, ...], _OpenBar] = {}
    for event in events[1:]:
        path = event_path(event, stack, paths)
        if event.is_of_stack:
            if event.stack_id == stack.id:
                last_of_stack = event
            continue
        _read(event, path, latest, bars)
    action, _, status = last_of_stack.state.partition("_")
    start = _seconds(first.time)
    end = None if status == "IN_PROGRESS" else _seconds(last_of_stack.time)
    found = sorted((bar.closed() for bar in bars), key=lambda bar: bar.start)
    return Operation(action, status, last_of_stack.reason, start, end, tuple(found))


def _read(
    event: Event,
    path: tuple[str, ...],
    latest: dict[tuple[str, ...], _OpenBar],
    bars: list[_OpenBar],
) -> None:
    """Read an event of a resource: the start or the end of a bar, or a note."""
    action, _, status = event.state.partition("_")
    at, bar = _seconds(event.time), latest.get(path)
    if event.hook is not None:  # The action pauses before its start, or after its end.
        action, status = event.reason.partition(" ")[0], "IN_PROGRESS"
    is_open = bar is not None and bar.end is None
    if bar is not None and is_open and status != "IN_PROGRESS" and action in _actions(bar):
        bar.end, bar.status, bar.reason = at, status, event.reason
    elif bar is not None and not is_open and (bar.action, action) == ("UPDATE", "CREATE"):
        bar.action, bar.end, bar.status = REPLACE, None, "IN_PROGRESS"
    elif status == "IN_PROGRESS" and not (bar is not None and is_open and action in _actions(bar)):
        latest[path] = bar = _OpenBar(path, action, at)
        bars.append(bar)
        _note(bar, at, event.reason)
    elif bar is not None:
        _note(bar, at, _described(event, action))
    else:  # a signal to a resource that this operation does not touch
        latest[path] = bar = _OpenBar(path, action, at, at, status)
        bars.append(bar)
        _note(bar, at, event.reason)


def _actions(bar: _OpenBar) -> tuple[str, ...]:
    return ("CREATE", "UPDATE", REPLACE) if bar.action == REPLACE else (bar.action,)


def _described(event: Event, action: str) -> str:
    if event.reason in PLAIN_REASONS:
        return "" if event.state.endswith("IN_PROGRESS") else event.state
    return f"signal: {event.reason}" if action == "SIGNAL" else event.reason


def _note(bar: _OpenBar, at: float, text: str) -> None:
    if text not in PLAIN_REASONS:
        bar.notes.append(Note(at, " ".join(text.split())))


def _seconds(time: str) -> float:
    return datetime.fromisoformat(time).timestamp()
