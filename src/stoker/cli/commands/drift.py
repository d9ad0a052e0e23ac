"""``stoker drift``: what others have changed or deleted of a stack's objects, and its repair."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping, Sequence
from contextlib import closing
from typing import Any

import click
from rich.console import Console

from stoker.cli import options as shared
from stoker.cli.client import Client, parsed
from stoker.cli.console import say
from stoker.cli.failures import DRIFTED
from stoker.cli.outcome import end_with_failure
from stoker.cli.progress import follow_or_leave
from stoker.cli.service import connect
from stoker.cli.stacks import ORCHESTRATION, Stack, last_event_id, the_stack
from stoker.cli.target import Target

_LONGEST = 60
"""Characters of a value that are shown."""
_SIGNS = {"changed": ("~", "yellow"), "gone": ("-", "red"), "unknown": ("?", "cyan")}


@click.command("drift")
@click.argument("name")
@click.option("--repair", is_flag=True, help="Then update the stack with converge.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@shared.wait
@shared.service
def command(name: str, repair: bool, as_json: bool, wait: bool, target: Target) -> None:
    """Compare the live objects of the stack NAME (or id) with what was applied.

    Shows per property what others have changed, what they have deleted, and what could not be
    compared; nested stacks included. With --repair, deleted objects are made again and changed
    properties are set back where that can be done in place.

    Exit code 0: no drift, or all of it repaired; 1: the repair failed; 2: drift.

    \b
    Examples
      stoker drift web-app
      stoker drift web-app --repair
    """
    console = Console()
    with closing(connect(target)) as client:
        stack = the_stack(client, name)
        found = _drift(client, stack)
        _print(stack, found, as_json=as_json)
        if not _has_drifted(found):
            return
        if not repair:
            sys.exit(DRIFTED)
        last = last_event_id(client, stack)
        client.call(ORCHESTRATION, "PATCH", stack.path, {"existing": True, "converge": True})
        if not wait:
            say(console, f"stoker status {stack.name} --follow")
            return
        ended = follow_or_leave(console, client, stack, last)
        if ended.status != "COMPLETE" or ended.action == "ROLLBACK":
            end_with_failure(console, client, ended)
        left = _drift(client, stack)
        _print(stack, left, as_json=as_json)
        if _has_drifted(left):
            sys.exit(DRIFTED)


def _drift(client: Client, stack: Stack) -> Mapping[str, Any]:
    answer = client.get(ORCHESTRATION, f"{stack.path}/drift")
    found: Mapping[str, Any] = parsed(lambda body: body["drift"], answer)
    return found


def _has_drifted(found: Mapping[str, Any]) -> bool:
    return bool(found["drifted"])


def _print(stack: Stack, found: Mapping[str, Any], *, as_json: bool) -> None:
    if as_json:
        click.echo(json.dumps(found, indent=2))
        return
    resources = found["resources"]
    for resource in resources:
        if resource["state"] in _SIGNS or resource["not_compared"]:
            click.echo("\n".join(_lines(stack, resource)))
    click.echo(f"{stack.name}: {_summary(resources)}")


def _lines(stack: Stack, resource: Mapping[str, Any]) -> list[str]:
    sign, colour = _SIGNS.get(resource["state"], ("=", "green"))
    nested = resource["stack_id"] != stack.id
    name = f"{resource['stack_name']}/{resource['resource_name']}" if nested else None
    line = f"{click.style(sign, fg=colour)} {name or resource['resource_name']}"
    line += f"  {click.style(resource['resource_type'], dim=True)}"
    if resource["state"] == "gone":
        line += f"  {resource['physical_resource_id']} was deleted"
    if resource["reason"]:
        line += f"  not compared: {resource['reason']}"
    lines = [line]
    for each in resource["properties"]:
        stays = "" if each["repairable"] else "  (cannot be restored in place)"
        live, applied = _text(each["live"]), _text(each["applied"])
        lines.append(f"    {each['name']}: {live} instead of {applied}{stays}")
    if resource["not_compared"]:
        lines.append(f"    not compared: {', '.join(resource['not_compared'])}")
    return lines


def _text(value: Any) -> str:
    text = "(none)" if value is None else json.dumps(value, ensure_ascii=False)
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}..."


def _summary(resources: Sequence[Mapping[str, Any]]) -> str:
    states = [resource["state"] for resource in resources]
    words = (("changed", "changed"), ("gone", "deleted"), ("same", "unchanged"))
    counts = [f"{states.count(state)} {word}" for state, word in words if state in states]
    if "unknown" in states:
        counts.append(f"{states.count('unknown')} not compared")
    return ", ".join(counts) or "nothing to compare"
