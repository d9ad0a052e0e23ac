"""The display during an operation and after its failure."""

from __future__ import annotations

import io

from rich.console import Console

from stoker.cli.client.stacks import Event, Resource, Stack
from stoker.cli.deploy.progress import LiveDisplay, PlainDisplay
from stoker.cli.deploy.tree import Clocks, as_tree, elapsed, print_tree, why
from stoker.kernel.values import replace

STACK = Stack("s", "shop", "CREATE", "IN_PROGRESS", "", "2026-01-01T00:00:00Z", None)
RESOURCE = Resource(
    "a",
    "OS::Heat::Value",
    "",
    "CREATE",
    "COMPLETE",
    "state changed",
    "s",
    "shop",
    None,
    (),
    None,
    "",
)


def resource(name: str, state: str, **changes: object) -> Resource:
    action, _, status = state.partition("_")
    return replace(RESOURCE, name=name, action=action, status=status, **changes)


def shown(stack: Stack, resources: list[Resource], most: int | None = None) -> str:
    console = Console(file=io.StringIO(), width=200)
    console.print(as_tree(stack, resources, Clocks(lambda: 0.0), most))
    output = console.file
    assert isinstance(output, io.StringIO)
    return output.getvalue()


def test_unstarted_resource_waits_for_its_dependency() -> None:
    network = resource("network", "CREATE_IN_PROGRESS", required_by=("server",))
    key = resource("key", "CREATE_COMPLETE", required_by=("server",))
    server = resource("server", "INIT_COMPLETE")
    assert why(server, [network, key, server], "CREATE") == "waits for network"


def test_deleted_resource_waits_for_its_dependents() -> None:
    network = resource("network", "CREATE_COMPLETE", required_by=("server",))
    server = resource("server", "DELETE_IN_PROGRESS")
    assert why(network, [network, server], "DELETE") == "waits for server"


def test_resource_in_progress_shows_reason_of_service() -> None:
    ready = resource("ready", "CREATE_IN_PROGRESS", waiting_for="0 of 1 signals received")
    assert why(ready, [ready], "CREATE") == "0 of 1 signals received"


def test_resource_at_hook_shows_command_to_clear_it() -> None:
    def paused(hook: str, state: str, **changes: object) -> Resource:
        words = f"CREATE paused until Hook {hook} is cleared"
        return resource("server", state, waiting_for=words, **changes)

    before = paused("pre-create", "INIT_COMPLETE")
    assert why(before, [before], "CREATE") == (
        "paused at pre-create; to go on: openstack stack hook clear --pre-create shop server"
    )
    after = paused("post-create", "CREATE_COMPLETE", nested=True)
    assert why(after, [after], "CREATE").endswith(
        """openstack stack resource signal --data '{"unset_hook": "post-create"}' s server"""
    )
    line = shown(STACK, [after])
    assert "‖ server" in line
    assert "s server" in line


def test_a_failed_resource_says_why() -> None:
    bad = resource("bad", "CREATE_FAILED", reason="No valid host was found.")
    assert why(bad, [bad], "CREATE") == "No valid host was found."


def test_the_tree_holds_nested_stacks_below_their_resources() -> None:
    outer = resource("outer", "CREATE_IN_PROGRESS", nested_id="n")
    inner = resource("inner", "CREATE_COMPLETE", stack_id="n")
    lines = shown(STACK, [outer, inner]).splitlines()
    assert lines[0] == "shop  CREATE_IN_PROGRESS"
    assert lines[1].startswith("└── ● outer")
    assert lines[2].startswith("    └── ✓ inner")


def test_long_tree_shows_most_important_resources() -> None:
    many = [resource(f"r{number}", "CREATE_COMPLETE") for number in range(100)]
    text = shown(STACK, [*many, resource("bad", "CREATE_FAILED")], most=5)
    assert "bad" in text
    assert "and 96 more" in text


def test_names_are_never_taken_for_markup() -> None:
    assert "[red]x" in shown(STACK, [resource("[red]x", "CREATE_COMPLETE")])


def test_durations_count_from_first_sight_of_action() -> None:
    now = [10.0]
    clocks = Clocks(lambda: now[0])
    busy = resource("a", "CREATE_IN_PROGRESS")
    clocks.observe([busy])
    now[0] = 12.5
    assert clocks.seconds(busy) == 2.5
    done = resource("a", "CREATE_COMPLETE")
    clocks.observe([done])
    now[0] = 99.0
    assert clocks.seconds(done) == 2.5


def test_durations_are_for_people() -> None:
    assert [elapsed(s) for s in (0.42, 61, 7300)] == ["0.4 s", "1 min 1 s", "2 h 1 min"]


def test_silence_is_followed_by_what_is_awaited() -> None:
    now = [0.0]
    console = Console(file=io.StringIO(), width=200)
    display = PlainDisplay(console, lambda: now[0])
    busy = resource("ready", "CREATE_IN_PROGRESS", waiting_for="0 of 1 signals received")
    display.show(STACK, [busy], [])
    assert isinstance(console.file, io.StringIO)
    assert console.file.getvalue() == ""
    now[0] = 11.0
    display.show(STACK, [busy], [])
    expected = "still CREATE_IN_PROGRESS  ready  for 11.0 s  0 of 1 signals received"
    assert expected in console.file.getvalue()
    now[0] = 25.0
    display.show(STACK, [], [])
    asks = f'{STACK.name}  for 25.0 s  "stoker why {STACK.name}" says what it waits for'
    assert f"still {STACK.state}  {asks}" in console.file.getvalue()


def test_lines_need_resources_for_new_nested_stacks() -> None:
    now = [0.0]
    display = PlainDisplay(Console(file=io.StringIO(), width=200), lambda: now[0])
    own = Event("1", "2026-01-01T00:00:00Z", "a", "s", "shop", "CREATE_IN_PROGRESS", "", "")
    assert not display.needs_resources(STACK, [])
    assert not display.needs_resources(STACK, [own])
    below = replace(own, stack_id="n", stack_name="shop-a")
    assert display.needs_resources(STACK, [own, below])
    display.show(STACK, [resource("a", "CREATE_IN_PROGRESS", nested_id="n")], [own, below])
    assert not display.needs_resources(STACK, [below])
    now[0] = 11.0
    assert display.needs_resources(STACK, [])


def test_durations_count_from_events() -> None:
    now = [0.0]
    console = Console(file=io.StringIO(), width=200)
    display = PlainDisplay(console, lambda: now[0])
    started = Event("1", "2026-01-01T00:00:00Z", "a", "s", "shop", "CREATE_IN_PROGRESS", "", "")
    display.show(STACK, None, [started])
    now[0] = 12.0
    display.show(STACK, [resource("a", "CREATE_IN_PROGRESS")], [])
    assert isinstance(console.file, io.StringIO)
    assert "still CREATE_IN_PROGRESS  a  for 12.0 s" in console.file.getvalue()


def test_planned_resources_are_shown_until_they_start() -> None:
    console = Console(file=io.StringIO(), width=200, force_terminal=True, height=30)
    network = resource("network", "CREATE_IN_PROGRESS")
    planned = [
        resource("network", "INIT_COMPLETE", required_by=("server",)),
        resource("server", "INIT_COMPLETE"),
    ]
    display = LiveDisplay(console, planned)
    display.show(STACK, [network], [])
    display.close()
    assert isinstance(console.file, io.StringIO)
    text = console.file.getvalue()
    assert "waits for network" in text
    assert "0 of 2 done" in text


def test_idle_tree_suggests_the_why_command() -> None:
    now = [0.0]
    console = Console(file=io.StringIO(), width=200, force_terminal=True, height=30)
    display = LiveDisplay(console, now=lambda: now[0])
    made = [resource("network", "CREATE_COMPLETE")]
    display.show(STACK, made, [])
    now[0] = 11.0
    assert isinstance(console.file, io.StringIO)
    assert "stoker why" not in console.file.getvalue()
    display.show(STACK, made, [])
    display.close()
    assert f'"stoker why {STACK.name}" says what it waits for' in console.file.getvalue()


def test_reason_is_cut_only_to_fit_the_screen() -> None:
    failed = resource("a", "CREATE_FAILED", reason="x" * 500)
    console = Console(file=io.StringIO(), width=80)
    print_tree(console, as_tree(STACK, [failed], Clocks(lambda: 0.0)))
    assert isinstance(console.file, io.StringIO)
    assert "x" * 500 in console.file.getvalue()
    assert len(console.file.getvalue()) < 600
    assert "x" * 200 not in str(as_tree(STACK, [failed], Clocks(lambda: 0.0), 10).children[0].label)
