"""Prints an operation as bars over time, in the width of the terminal."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from math import log10

from msgspec import Struct
from rich.text import Text

from stoker.cli.deploy.tree import elapsed
from stoker.cli.timelines.operation import Bar, Operation

_SIGNS = {
    "COMPLETE": ("✓", "green"),
    "IN_PROGRESS": ("◐", "yellow"),
    "FAILED": ("✕", "bold red"),
}
_CRITICAL, _OTHER = "█", "▒"
_SHORTEST_BAR, _SHORTEST_NAME = 16, 8
_MOST_NOTES = 2  # that are all shown
_SHORTEST_CELLS = 0.5  # A shorter bar is drawn as a point.
_SAME_SECONDS = 0.1  # differences that are not shown


class Chart(Struct, frozen=True):
    """An operation with the width and the highlights of its drawing."""

    operation: Operation
    critical: tuple[Bar, ...]
    now: float
    width: int
    # Duration of each resource's action in an earlier operation, if it is compared with one.
    earlier: Mapping[tuple[tuple[str, ...], str], float] | None = None


def by_holder(bars: Sequence[Bar]) -> list[Bar]:
    """Return bars by their starts; those inside a nested stack follow the bar of its resource."""
    inside: dict[tuple[str, ...], list[Bar]] = {}
    for bar in bars:
        inside.setdefault(bar.path[:-1], []).append(bar)
    known = {bar.path for bar in bars}
    seen: set[tuple[str, ...]] = set()
    found: list[Bar] = []
    pending = [bar for bar in reversed(bars) if bar.path[:-1] not in known]
    while pending:
        bar = pending.pop()
        found.append(bar)
        if bar.path not in seen:
            seen.add(bar.path)
            pending += reversed(inside.get(bar.path, ()))
    return found


def chosen(chart: Chart, most: int | None) -> list[Bar]:
    """Return the bars that say the most: critical, failed, in progress, with notes, long ones."""
    bars = chart.operation.bars
    if most is not None and len(bars) > most:
        critical = {id(bar) for bar in chart.critical}

        def rank(bar: Bar) -> tuple[bool, bool, bool, float]:
            is_open = bar.status != "COMPLETE"
            return (id(bar) in critical, is_open, bool(bar.notes), bar.seconds(chart.now))

        kept = {id(bar) for bar in sorted(bars, key=rank, reverse=True)[:most]}
        bars = tuple(bar for bar in bars if id(bar) in kept)
    return by_holder(bars)


def lines_of(chart: Chart, bars: Sequence[Bar]) -> Iterator[Text]:
    """Yield the scale, and one line for each bar."""
    names = [_name(bar, bars) for bar in bars]
    times = [_took(bar, chart) for bar in bars]
    notes = [_notes(bar, chart.operation.start) for bar in bars]
    longest_name = max(map(len, names), default=0)
    name_width = min(longest_name, max(chart.width // 3, _SHORTEST_NAME))
    time_width = max(map(len, times), default=0)
    fixed = 2 + name_width + 2 + 2 + time_width
    room = chart.width - fixed
    longest_note = max(map(len, notes), default=0)
    note_width = min(longest_note, room // 2 - 2) if longest_note else 0
    bar_width = max(room - (note_width + 2 if note_width > 0 else 0), _SHORTEST_BAR)
    yield Text(" " * (4 + name_width)).append(_scale(chart, bar_width), "dim")
    critical = {id(bar) for bar in chart.critical}
    for bar, name, took, note in zip(bars, names, times, notes, strict=True):
        sign, colour = _SIGNS.get(bar.status, _SIGNS["COMPLETE"])
        is_critical = id(bar) in critical
        line = Text.assemble((sign, colour), " ")
        line.append(f"{_end_of(name, name_width):<{name_width}}  ", "bold" * is_critical)
        line.append(_drawn(bar, chart, bar_width, _CRITICAL if is_critical else _OTHER), colour)
        line.append(f"  {took:>{time_width}}", "bold" * is_critical)
        if note and note_width > 0:
            style = colour if bar.status == "FAILED" else "italic"
            line.append(f"  {_start_of(note, note_width)}", style)
        line.rstrip()
        yield line


def _name(bar: Bar, bars: Sequence[Bar]) -> str:
    words = {"DELETE": " (delete)", "REPLACE": " (replace)", "SIGNAL": " (signal)"}
    is_deletion = all(each.action == "DELETE" for each in bars)
    return bar.name if is_deletion else bar.name + words.get(bar.action, "")


def _end_of(path: str, width: int) -> str:
    """Return the end of a long path, which says more than its start."""
    return path if len(path) <= width else f"…{path[len(path) - width + 1 :]}"


def _start_of(text: str, width: int) -> str:
    return text if len(text) <= width else f"{text[: width - 1]}…"


def _took(bar: Bar, chart: Chart) -> str:
    seconds = bar.seconds(chart.now)
    text = short(seconds)
    if chart.earlier is None:
        return text
    before = chart.earlier.get((bar.path, bar.action))
    if before is None:
        return f"{text}     new"
    change = seconds - before
    return f"{text} {difference(change):>7}"


def short(seconds: float) -> str:
    """Return a duration; milliseconds below a tenth of a second."""
    return f"{seconds * 1000:.0f} ms" if seconds < 0.1 else elapsed(seconds)


def difference(seconds: float) -> str:
    """Return a change of a duration, with its sign."""
    if abs(seconds) < _SAME_SECONDS:
        return "="
    return f"{'+' if seconds > 0 else '-'}{elapsed(abs(seconds))}"


def _notes(bar: Bar, start: float) -> str:
    reason = [bar.reason] if bar.status == "FAILED" and bar.reason else []
    notes = [f"{short(note.at - start)}: {note.text}" for note in bar.notes]
    if len(notes) > _MOST_NOTES:
        notes = [f"{len(notes)} notes, the last at {notes[-1]}"]
    return "; ".join([*reason, *notes])


def _drawn(bar: Bar, chart: Chart, width: int, fill: str) -> str:
    """Return the bar in its place. The shortest one is a line."""
    start, total = chart.operation.start, _total(chart)
    first = min(int((bar.start - start) / total * width), width - 1)
    end = bar.start + bar.seconds(chart.now)
    last = min(round((end - start) / total * width), width)
    is_point = (end - bar.start) / total * width < _SHORTEST_CELLS
    length = 0 if is_point else max(last - first, 0)
    shortest = "▌" if fill == _CRITICAL else "▏"
    return (" " * first + (fill * length or shortest)).ljust(width)[:width]


def _total(chart: Chart) -> float:
    return max(chart.operation.ends_at(chart.now) - chart.operation.start, 0.001)


def _rounded(seconds: float) -> str:
    return short(seconds).replace(".0 s", " s") if seconds else "0"


def _scale(chart: Chart, width: int) -> str:
    """Return times at round distances above the bars."""
    total = _total(chart)
    rough = total / max(width // 12, 1)
    power = 10.0 ** int(log10(rough) // 1)
    step = next(factor * power for factor in (1, 2, 5, 10) if factor * power >= rough)
    line = [" "] * width
    number = 0
    while number * step <= total:
        label = f"|{_rounded(number * step)}"
        place = int(number * step / total * width)
        if place + len(label) <= width:
            line[place : place + len(label)] = label
        number += 1
    return "".join(line).rstrip()
