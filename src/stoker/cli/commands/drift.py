"""``stoker drift``: external changes to a stack's objects, and their repair."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from contextlib import closing
from functools import partial
from typing import Any

import click

from stoker.cli.arguments import completing
from stoker.cli.arguments import options as shared
from stoker.cli.arguments.naming import paths_of, the_stack
from stoker.cli.client.client import Client, parsed
from stoker.cli.client.stacks import ORCHESTRATION, Stack, last_event_id, resources_of
from stoker.cli.client.target import Target
from stoker.cli.console.console import console_beside, print_json, say
from stoker.cli.console.failures import DRIFTED
from stoker.cli.deploy.outcome import end_with_failure
from stoker.cli.deploy.progress import follow_or_leave
from stoker.cli.differences import difference, instead_of
from stoker.cli.local.service import connect

_SIGNS = {"changed": ("~", "yellow"), "gone": ("-", "red"), "unknown": ("?", "cyan")}

_MOST_NAMES = 3  # names in a line about resources that could not be compared for the same reason


@click.command("drift")
@click.argument("name", shell_complete=completing.stacks)
@click.option("--repair", is_flag=True, help="Then update the stack with converge.")
@click.option("-v", "--verbose", is_flag=True, help="List what could not be compared.")
@shared.as_json
@shared.wait
@shared.service
def command(
    name: str, repair: bool, verbose: bool, as_json: bool, wait: bool, target: Target
) -> None:
    """Compare the live objects of the stack NAME (or id) with the applied definitions.

    Shows properties that were changed and objects that were deleted outside the stack; nested
    stacks included. Items added to a list are marked with +, removed ones with -. With --repair,
    deleted objects are created again, and changed properties are set back where that can be done in
    place.

    Exit code 0: no drift, or all of it repaired; 1: the repair failed; 2: drift.

    \b
    Examples
      stoker drift web-app
      stoker drift web-app --repair
    """
    console = console_beside(as_json=as_json)
    with closing(connect(target)) as client:
        stack = the_stack(client, name)
        found = _drift(client, stack)
        show = print_json if as_json else partial(_print, client, stack, verbose=verbose)
        mends = repair and _has_drifted(found)
        if not (as_json and mends and wait):  # One document: the state after the repair.
            show(found)
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
        show(left)
        if _has_drifted(left):
            sys.exit(DRIFTED)


def _drift(client: Client, stack: Stack) -> Mapping[str, Any]:
    answer = client.get(ORCHESTRATION, f"{stack.path}/drift")
    found: Mapping[str, Any] = parsed(lambda body: body["drift"], answer)
    return found


def _has_drifted(found: Mapping[str, Any]) -> bool:
    return bool(found["drifted"])


def _print(client: Client, stack: Stack, found: Mapping[str, Any], *, verbose: bool) -> None:
    resources = found["resources"]
    paths: Mapping[str, tuple[str, ...]] = {}
    if any(resource["stack_id"] != stack.id for resource in resources):
        paths = paths_of(stack, resources_of(client, stack))
    unknown: dict[tuple[str, str], list[str]] = {}
    for resource in resources:
        name = "/".join((*paths.get(resource["stack_id"], ()), resource["resource_name"]))
        if resource["state"] == "unknown" and not verbose:
            unknown.setdefault((resource["resource_type"], resource["reason"]), []).append(name)
        elif resource["state"] in _SIGNS or (verbose and resource["not_compared"]):
            click.echo("\n".join(_lines(name, resource, verbose=verbose)))
    for (type_name, reason), names in unknown.items():
        more = f" and {len(names) - _MOST_NAMES} more" if len(names) > _MOST_NAMES else ""
        named = ", ".join(names[:_MOST_NAMES])
        click.echo(_head("unknown", f"{named}{more}", type_name) + f"  not compared: {reason}")
    click.echo(f"{stack.name}: {_summary(resources)}")
    in_part = sum(1 for resource in resources if resource["not_compared"])
    if in_part and not verbose:
        of_what = "1 resource" if in_part == 1 else f"{in_part} resources"
        click.echo(f"Some properties of {of_what} could not be compared; --verbose lists them.")


def _head(state: str, name: str, type_name: str) -> str:
    sign, colour = _SIGNS.get(state, ("=", "green"))
    return f"{click.style(sign, fg=colour)} {name}  {click.style(type_name, dim=True)}"


def _lines(name: str, resource: Mapping[str, Any], *, verbose: bool) -> list[str]:
    line = _head(resource["state"], name, resource["resource_type"])
    if resource["state"] == "gone":
        line += f"  {resource['physical_resource_id']} was deleted"
    if resource["reason"]:
        line += f"  not compared: {resource['reason']}"
    lines = [line]
    for each in resource["properties"]:
        found = difference(each["name"], each["applied"], each["live"], instead_of)
        if not each["repairable"]:
            found[0] += "  (cannot be restored in place)"
        lines += [f"    {text}" for text in found]
    if verbose and resource["not_compared"]:
        lines.append(f"    not compared: {', '.join(resource['not_compared'])}")
    return lines


def _summary(resources: Sequence[Mapping[str, Any]]) -> str:
    states = [resource["state"] for resource in resources]
    words = (("changed", "changed"), ("gone", "deleted"), ("same", "unchanged"))
    counts = [f"{states.count(state)} {word}" for state, word in words if state in states]
    if "unknown" in states:
        counts.append(f"{states.count('unknown')} not compared")
    return ", ".join(counts) or "nothing to compare"
