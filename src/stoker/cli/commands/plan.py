"""``stoker plan``: what a deployment would do, resource by resource."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import click

from stoker.cli import options as shared
from stoker.cli.client import Odd
from stoker.cli.service import connect
from stoker.cli.stacks import find_stack
from stoker.cli.target import Target
from stoker.cli.wanted import Wanted, stack_arguments

_SIGNS = {
    "added": ("+", "green"),
    "updated": ("~", "yellow"),
    "replaced": ("±", "magenta"),
    "deleted": ("-", "red"),
}
"""Kinds of change as the API names them, in the order in which they are shown."""


@click.command("plan")
@stack_arguments
@shared.service
def command(wanted: Wanted, target: Target) -> None:
    """Show what "stoker deploy" with the same arguments would do. Changes nothing.

    \b
    Examples
      stoker plan examples/web-app.yaml
      stoker plan examples/web-app.yaml -P title='Good morning'
    """
    client = connect(target)
    try:
        existing = find_stack(client, wanted.name)
        body = {**wanted.body(), "stack_name": wanted.name}
        if existing is None:
            answer = wanted.send(client, "POST", "/stacks/preview", body)
        else:
            path = f"{existing.path}/preview?show_nested=true"
            answer = wanted.send(client, "PUT", path, wanted.body())
    finally:
        client.close()
    try:
        changes = _of_new(answer) if existing is None else _of_update(answer)
        lines = [_line(kind, change, wanted.name) for kind, change in changes]
    except (KeyError, TypeError, AttributeError):
        raise Odd("the service") from None
    for line in lines:
        click.echo(line)
    click.echo(_summary(wanted.name, [line[0] for line in map(click.unstyle, lines)]))


Changes = Iterator[tuple[str, Mapping[str, Any]]]


def _of_new(answer: Mapping[str, Any]) -> Changes:
    """All resources of a stack that does not exist; nested stacks are lists within the list."""
    pending = list(answer["stack"]["resources"])
    while pending:
        found = pending.pop(0)
        if isinstance(found, list):
            pending[:0] = found
        else:
            yield "added", found


def _of_update(answer: Mapping[str, Any]) -> Changes:
    for kind in _SIGNS:
        for change in answer["resource_changes"][kind]:
            yield kind, change


def _line(kind: str, change: Mapping[str, Any], stack_name: str) -> str:
    sign, colour = _SIGNS[kind]
    name = change["resource_name"]
    if change["stack_name"] != stack_name:
        name = f"{change['stack_name']}/{name}"
    line = (
        f"{click.style(sign, fg=colour)} {name}  {click.style(change['resource_type'], dim=True)}"
    )
    properties = ", ".join(change.get("changed_properties") or ())
    return f"{line}  because of {properties}" if properties else line


def _summary(name: str, signs: list[str]) -> str:
    counts = [f"{signs.count(sign)} {kind}" for kind, (sign, _) in _SIGNS.items() if sign in signs]
    return f"{name}: {', '.join(counts)}" if counts else f"{name}: nothing changes"
