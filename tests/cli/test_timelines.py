"""``stoker timeline``: operations, their critical path, and the chart."""

from __future__ import annotations

import json
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

from rich.text import Text

from stoker.cli.client.stacks import Event, Resource, Stack
from stoker.cli.timelines.chart import Chart, by_holder, chosen, lines_of
from stoker.cli.timelines.critical_path import Path as Names
from stoker.cli.timelines.critical_path import critical_path
from stoker.cli.timelines.operation import Bar, Operation, first_failure, operations_of, with_waits
from tests.cli.conftest import Served

STACK = Stack("s", "shop", "CREATE", "COMPLETE", "", "2026-01-01T00:00:00Z", None)
PATHS = {"s": (), "g": ("group",)}
START = datetime(2026, 1, 1, tzinfo=UTC).timestamp()

Row = tuple[float, str, str, str]  # seconds, resource, state, reason


def event(at: float, name: str, state: str, reason: str = "", stack: str = "s") -> Event:
    time = datetime.fromtimestamp(START + at, UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")
    is_stack = name == ""
    shown = {"s": "shop", "g": "shop-group"}[stack]
    physical = stack if is_stack else "p"
    return Event(f"{at}", time, name or shown, stack, shown, state, reason, physical)


def course(*rows: tuple[float, str, str] | Row, action: str = "CREATE") -> list[Event]:
    """Return the events of an operation of ten seconds."""
    return [
        event(0, "", f"{action}_IN_PROGRESS", "started"),
        *(event(*row) for row in rows),
        event(10, "", f"{action}_COMPLETE", "completed"),
    ]


def the_operation(events: Sequence[Event], stack: Stack = STACK) -> Operation:
    (found,) = operations_of(events, stack, PATHS)
    return found


def rows(operation: Operation) -> list[tuple[str, str, float, float | None, str]]:
    return [
        (
            bar.name,
            bar.action,
            round(bar.start - START, 3),
            None if bar.end is None else round(bar.end - START, 3),
            bar.status,
        )
        for bar in operation.bars
    ]


def printed(operation: Operation, critical: Sequence[Bar] = (), width: int = 80) -> list[str]:
    chart = Chart(operation, tuple(critical), START + 10, width)
    return [line.plain for line in lines_of(chart, chosen(chart, None))]


def test_bars_last_from_start_to_end() -> None:
    operation = the_operation(
        course(
            (1, "a", "CREATE_IN_PROGRESS", "state changed"),
            (2.5, "a", "CREATE_COMPLETE", "state changed"),
            (2.5, "b", "CREATE_IN_PROGRESS", ""),
            (9, "b", "CREATE_FAILED", "no room"),
        )
    )
    assert rows(operation) == [
        ("a", "CREATE", 1, 2.5, "COMPLETE"),
        ("b", "CREATE", 2.5, 9, "FAILED"),
    ]
    assert (operation.start, operation.end) == (START, START + 10)
    failure = first_failure(operation)
    assert failure is not None
    assert (failure.name, failure.reason) == ("b", "no room")


def test_signals_and_hooks_are_notes() -> None:
    paused = "CREATE paused until Hook pre-create is cleared"
    operation = the_operation(
        course(
            (1, "a", "INIT_COMPLETE", paused),
            (5, "a", "CREATE_IN_PROGRESS", "state changed"),
            (6, "a", "CREATE_IN_PROGRESS", "still building"),
            (7, "a", "CREATE_COMPLETE", ""),
            (8, "a", "SIGNAL_COMPLETE", "ready"),
            (9, "other", "SIGNAL_COMPLETE", "hello"),
        )
    )
    assert rows(operation) == [
        ("a", "CREATE", 1, 7, "COMPLETE"),
        ("other", "SIGNAL", 9, 9, "COMPLETE"),
    ]
    assert [note.text for note in operation.bars[0].notes] == [
        paused,
        "still building",
        "signal: ready",
    ]
    assert any("3 notes, the last at 8.0 s" in line for line in printed(operation, width=160))


def test_replaced_resource_has_two_bars() -> None:
    operation = the_operation(
        course(
            (1, "a", "UPDATE_IN_PROGRESS"),
            (1, "a", "UPDATE_COMPLETE"),
            (1, "a", "CREATE_IN_PROGRESS"),
            (4, "a", "CREATE_COMPLETE"),
            (5, "a", "DELETE_IN_PROGRESS"),
            (6, "a", "DELETE_COMPLETE"),
            action="UPDATE",
        )
    )
    assert rows(operation) == [
        ("a", "REPLACE", 1, 4, "COMPLETE"),
        ("a", "DELETE", 5, 6, "COMPLETE"),
    ]
    shown = [line[:13] for line in printed(operation)[1:]]
    assert shown == ["✓ a (replace)", "✓ a (delete) "]


def test_superseded_operation_ends_with_its_last_event() -> None:
    events = [
        event(0, "", "UPDATE_IN_PROGRESS"),
        event(1, "a", "UPDATE_IN_PROGRESS"),
        event(3, "b", "UPDATE_IN_PROGRESS"),
        event(20, "", "ROLLBACK_IN_PROGRESS"),
        event(21, "a", "UPDATE_IN_PROGRESS"),
    ]
    first, last = operations_of(events, STACK, PATHS)
    assert (first.state, first.end) == ("UPDATE_SUPERSEDED", START + 3)
    assert rows(first)[0] == ("a", "UPDATE", 1, 3, "IN_PROGRESS")
    assert (last.state, last.end) == ("ROLLBACK_IN_PROGRESS", None)
    assert last.ends_at(START + 60) == START + 60


def test_bar_in_progress_notes_its_wait() -> None:
    events = [event(0, "", "CREATE_IN_PROGRESS"), event(1, "a", "CREATE_IN_PROGRESS")]
    operation = the_operation(events)
    wait = "call 3, the next in 8 seconds: 503"
    waiting = Resource(
        "a",
        "T",
        "",
        "CREATE",
        "IN_PROGRESS",
        "",
        "s",
        "shop",
        None,
        (),
        wait,
        "2026-01-01T00:00:00Z",
    )
    (bar,) = with_waits(operation, [waiting], PATHS, START + 9).bars
    assert [(note.at, note.text) for note in bar.notes] == [(START + 9, wait)]
    assert operation.bars[0].notes == ()


def test_first_failure_is_not_one_that_was_aborted() -> None:
    operation = the_operation(
        course(
            (1, "group", "CREATE_IN_PROGRESS"),
            (1, "other", "CREATE_IN_PROGRESS"),
            (3, "other", "CREATE_FAILED", "CREATE aborted"),
            (5, "group", "CREATE_FAILED", "resources[0]: no room"),
        )
    )
    failure = first_failure(operation)
    assert failure is not None
    assert failure.name == "group"


def test_critical_path_leads_through_nested_stacks() -> None:
    events = [
        event(0, "", "CREATE_IN_PROGRESS"),
        event(0, "net", "CREATE_IN_PROGRESS"),
        event(0, "key", "CREATE_IN_PROGRESS"),
        event(1, "key", "CREATE_COMPLETE"),
        event(2, "net", "CREATE_COMPLETE"),
        event(2.01, "group", "CREATE_IN_PROGRESS"),
        event(2.02, "", "CREATE_IN_PROGRESS", stack="g"),
        event(2.1, "0", "CREATE_IN_PROGRESS", stack="g"),
        event(2.1, "1", "CREATE_IN_PROGRESS", stack="g"),
        event(4, "0", "CREATE_COMPLETE", stack="g"),
        event(8, "1", "CREATE_COMPLETE", stack="g"),
        event(8, "", "CREATE_COMPLETE", stack="g"),
        event(8.1, "group", "CREATE_COMPLETE"),
        event(8.1, "last", "CREATE_IN_PROGRESS"),
        event(10, "last", "CREATE_COMPLETE"),
        event(10, "", "CREATE_COMPLETE"),
    ]
    operation = the_operation(events)
    requires: dict[Names, list[Names]] = {
        ("last",): [("group",), ("key",)],
        ("group",): [("net",), ("key",)],
    }
    path = critical_path(operation, requires, START + 10)
    assert [bar.name for bar in path] == ["net", "group", "group/1", "last"]
    order = [bar.name for bar in by_holder(operation.bars)]
    assert order == ["net", "key", "group", "group/0", "group/1", "last"]
    shown = printed(operation, path)
    assert [line[2:9].strip() for line in shown if "█" in line] == [
        "net",
        "group",
        "group/1",
        "last",
    ]
    assert [line[2:9].strip() for line in shown if "▒" in line] == ["key", "group/0"]


def test_delete_waits_for_dependents() -> None:
    operation = the_operation(
        course(
            (0.5, "server", "DELETE_IN_PROGRESS"),
            (0.5, "volume", "DELETE_IN_PROGRESS"),
            (3.25, "volume", "DELETE_COMPLETE"),
            (4, "server", "DELETE_COMPLETE"),
            (4, "net", "DELETE_IN_PROGRESS"),
            (9, "net", "DELETE_COMPLETE"),
            action="DELETE",
        )
    )
    known = critical_path(operation, {("server",): [("net",)]}, START + 10)
    assert [bar.name for bar in known] == ["server", "net"]
    unknown = critical_path(operation, {}, START + 10)
    assert [bar.name for bar in unknown] == ["server", "net"]


def test_bars_have_their_place_in_the_width() -> None:
    operation = the_operation(
        course(
            (0, "early", "CREATE_IN_PROGRESS"),
            (5, "early", "CREATE_COMPLETE"),
            (5, "late", "CREATE_IN_PROGRESS"),
            (10, "late", "CREATE_COMPLETE"),
            (10, "point", "CREATE_IN_PROGRESS"),
            (10, "point", "CREATE_COMPLETE"),
        )
    )
    scale, early, late, point = printed(operation, width=70)
    assert [label.strip() for label in scale.split("|")][:3] == ["", "0", "5 s"]
    assert early.count("▒") == late.count("▒")
    assert early.rindex("▒") + 1 == late.index("▒")
    assert point.index("▏") == late.rindex("▒")
    assert early.endswith("5.0 s")
    assert max(map(len, (scale, early, late, point))) <= 70


def test_long_names_and_reasons_are_cut() -> None:
    operation = the_operation(
        course(
            (0, "n" * 300 + "end", "CREATE_IN_PROGRESS"),
            (5, "n" * 300 + "end", "CREATE_FAILED", "[red]why[/red] \n" + "x" * 500),
        )
    )
    _, line = printed(operation, width=90)
    assert len(line) <= 90
    assert "nend  " in line
    assert "[red]why[/red] xx" in line
    assert line.endswith("…")


def test_large_operation_shows_what_says_most() -> None:
    bars = tuple(
        Bar((f"r{n}",), "CREATE", START, START + n / 1000, "FAILED" if n == 3 else "COMPLETE")
        for n in range(1000)
    )
    operation = Operation("CREATE", "FAILED", "", START, START + 10, bars)
    chart = Chart(operation, (bars[1],), START + 10, 80)
    names = {bar.name for bar in chosen(chart, 4)}
    assert names == {"r1", "r3", "r999", "r998"}
    assert len(chosen(chart, None)) == 1000


def test_empty_operation_is_a_scale() -> None:
    assert isinstance(next(iter(lines_of(Chart(the_operation(course()), (), START, 80), []))), Text)


TEMPLATE = """heat_template_version: 2018-08-31
parameters:
  seconds: {type: number, default: 0}
  fails: {type: boolean, default: false}
resources:
  first: {type: OS::Heat::RandomString}
  slow:
    type: OS::Heat::TestResource
    depends_on: first
    properties:
      value: {str_replace: {template: $S, params: {$S: {get_param: seconds}}}}
      fail: {get_param: fails}
      action_wait_secs: {create: {get_param: seconds}, update: {get_param: seconds}}
  last: {type: OS::Heat::Value, properties: {value: {get_attr: [slow, output]}}}
"""


def test_operations_of_running_service_are_shown(service: Served, tmp_path: Path) -> None:
    template = tmp_path / "timed.yaml"
    template.write_text(TEMPLATE)
    assert service.run("deploy", str(template)).exit_code == 0
    for seconds in ("0.2", "0.9"):
        done = service.run("deploy", str(template), "-P", f"seconds={seconds}", "--yes")
        assert done.exit_code == 0, done.output
    last = json.loads(service.run("timeline", "timed", "--json", "--compare").output)
    assert (last["action"], last["status"]) == ("UPDATE", "COMPLETE")
    slow = next(bar for bar in last["bars"] if bar["resource"] == "slow")
    assert slow["critical"]
    assert slow["seconds"] >= 0.9 > slow["previous_seconds"] >= 0.2
    text = service.run("timeline", "timed", "--compare", "--width", "90")
    assert text.output.startswith("timed  UPDATE_COMPLETE")
    assert "the previous time: +" in text.output
    assert max(map(len, text.output.splitlines()[1:])) <= 90
    created = service.run("timeline", "timed", "--operation", "3", "--critical").output
    assert created.startswith("timed  CREATE_COMPLETE")
    assert "slow" in created
    none = service.run("timeline", "timed", "--operation", "4")
    assert none.exit_code == 2
    assert "timed has only 3 operations:\n  1  UPDATE_COMPLETE" in none.output

    failed = service.run("deploy", str(template), "-P", "fails=true", "-P", "seconds=1", "--yes")
    assert failed.exit_code == 1
    shown = service.run("timeline", "timed").output
    assert "✕ slow" in shown
    assert "Likely root cause\ntimed: UPDATE_FAILED" in shown
    data = json.loads(service.run("timeline", "timed", "--json").output)
    assert data["root_cause"] == "slow"
    assert data["causes"][0]["path"] == ["slow"]

    identity = data["stack_id"]
    assert service.run("destroy", "timed", "--yes").exit_code == 0
    gone = service.run("timeline", identity)
    assert gone.output.startswith("timed  DELETE_COMPLETE")
    assert "✓ first" in gone.output
