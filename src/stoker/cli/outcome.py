"""What is said at the end of an operation: outputs, or why it failed and what to do next."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Sequence
from typing import NoReturn

from rich.console import Console

from stoker.cli.client import Client
from stoker.cli.console import say
from stoker.cli.failures import FAILED, CommandFailed
from stoker.cli.stacks import Event, Output, Resource, Stack, console_log, events_of, resources_of
from stoker.cli.tree import by_stack

_CONSOLE_LINES = 30
_MOST_CAUSES = 10
_MOST_CONSOLES = 3
_SERVER = "OS::Nova::Server"
WAITS = frozenset((
    "OS::Heat::WaitCondition", "OS::Heat::WaitConditionHandle",
    "AWS::CloudFormation::WaitCondition", "AWS::CloudFormation::WaitConditionHandle",
    "OS::Heat::SoftwareDeployment", "OS::Heat::SoftwareDeploymentGroup",
    "OS::Heat::StructuredDeployment",
))  # fmt: skip
"""Types that fail for what servers report: their consoles then say more."""
_ABORTED = ("aborted", "cancelled")


def print_outputs(console: Console, outputs: Sequence[Output]) -> None:
    """The outputs, one in a line; long values below their names."""
    width = max((len(output.name) for output in outputs), default=0)
    for output in outputs:
        if output.error is not None:
            text = f"(cannot be computed: {output.error})"
        elif isinstance(output.value, str):
            text = output.value.rstrip("\n")
        else:
            text = json.dumps(output.value, indent=2)
        if "\n" in text:
            text = "".join(f"\n    {line}" for line in text.splitlines())
        say(console, f"  {output.name:<{width}}  {text}")


def causes(stack: Stack, resources: Sequence[Resource], events: Sequence[Event]) -> list[list[str]]:
    """Each failure as a chain: from the resource of the stack down to the cloud's own words.

    What was given up because something else failed is left out, unless there is nothing else.
    """
    levels = by_stack(resources)
    chains = list(_chains(levels, stack.id, []))
    if not chains:  # the resources are gone: a rollback has taken them away
        chains = [
            [f"{event.resource}: {event.state}", event.reason]
            for event in events
            if event.state.endswith("_FAILED") and event.physical_id != event.stack_id
        ]
    own = [chain for chain in chains if not any(word in chain[-1] for word in _ABORTED)]
    return (own or chains)[:_MOST_CAUSES]


def _chains(
    levels: dict[str, list[Resource]], stack_id: str, above: list[str]
) -> Iterator[list[str]]:
    for resource in levels.get(stack_id, ()):
        if resource.status != "FAILED":
            continue
        chain = [*above, f"{resource.name} ({resource.type_name}): {resource.state}"]
        below = list(_chains(levels, resource.nested_id, chain)) if resource.nested_id else []
        yield from below or [[*chain, resource.reason]]


def end_with_failure(console: Console, client: Client, stack: Stack, after: str | None) -> NoReturn:
    """Print why an operation failed, and end the process."""
    print_failure(console, client, stack, after)
    sys.exit(FAILED)


def print_failure(console: Console, client: Client, stack: Stack, after: str | None = None) -> None:
    """Why an operation failed, what the servers said, and what to do next.

    ``after`` is the last event before the operation.
    """
    resources, events = resources_of(client, stack), events_of(client, stack, after)
    say(console, f"\n{stack.name}: {stack.state}", "bold red")
    found = causes(stack, resources, events)
    for chain in found:
        for depth, link in enumerate(chain):
            indent = "  " * (depth + 1)
            say(console, f"{indent}{f'{chr(10)}{indent}'.join(link.splitlines() or [''])}")
    if not found:
        say(console, f"  {stack.reason}")
    waited = _waited(resources, events)
    shown = [r for r in resources if r.type_name == _SERVER and r.physical_id] if waited else []
    for server in shown[:_MOST_CONSOLES]:
        _print_console(console, client, server)
    say(console, "\nWhat next", "bold")
    for step in _steps(stack, shown):
        say(console, f"  {step}")


def _waited(resources: Sequence[Resource], events: Sequence[Event]) -> bool:
    """Whether something failed that servers report on: their consoles then say more."""
    failed = {event.resource for event in events if event.state.endswith("_FAILED")}
    return any(
        resource.type_name in WAITS and (resource.status == "FAILED" or resource.name in failed)
        for resource in resources
    )


def _print_console(console: Console, client: Client, server: Resource) -> None:
    try:
        text = console_log(client, server.physical_id, _CONSOLE_LINES).rstrip()
    except CommandFailed as error:
        text = f"(not available: {error.message})"
    say(console, f"\nConsole of {server.name}, the last {_CONSOLE_LINES} lines", "bold")
    for line in text.splitlines()[-_CONSOLE_LINES:]:
        say(console, f"  | {line}")


def _steps(stack: Stack, servers: Sequence[Resource]) -> list[str]:
    steps = [
        f"stoker logs {stack.name}/{server.name}   # the complete console" for server in servers[:1]
    ]
    if stack.action == "DELETE":
        steps.append(f"stoker destroy {stack.name}   # after fixing the cause: deletes the rest")
        return steps
    if stack.action == "ROLLBACK":
        steps.append("stoker deploy --no-rollback ...   # leaves what failed for inspection")
    steps += [
        f"stoker deploy ... --name {stack.name}   # after a fix: continues from here",
        f"stoker destroy {stack.name}   # or delete everything",
    ]
    return steps
