"""Completes names in shells: stacks, resources, servers and parameters.

Completion never starts a service, prints nothing and raises nothing: without an answer there are
no candidates.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from contextlib import closing
from pathlib import Path
from typing import Any

import click
from click.shell_completion import split_arg_string

from stoker.cli.arguments.data_dir import default_data_dir
from stoker.cli.arguments.files import TEMPLATES
from stoker.cli.arguments.naming import by_path
from stoker.cli.client.client import Client
from stoker.cli.client.credentials import in_data_dir
from stoker.cli.client.stacks import SERVERS, find_stack, list_stacks, resources_of
from stoker.cli.client.target import Target
from stoker.cli.console.failures import CommandError
from stoker.template.source.source import read

Names = Callable[[Client, click.Context], Iterable[str]]


def _completed(names: Names) -> Callable[[click.Context, click.Parameter, str], list[str]]:
    def complete(ctx: click.Context, _: click.Parameter, incomplete: str) -> list[str]:
        try:
            client = _client(ctx)
            if client is None:
                return []
            with closing(client):
                return [name for name in names(client, ctx) if name.startswith(incomplete)]
        except (CommandError, OSError):
            return []

    return complete


def _client(ctx: click.Context) -> Client | None:
    chosen = ctx.params.get("data_dir")
    data_dir = chosen if isinstance(chosen, Path) else Path(default_data_dir())
    target = Target(data_dir, ctx.params.get("url"))
    credentials = target.foreign() or in_data_dir(data_dir)
    return None if credentials is None else Client(credentials, target.url)


def _stacks(client: Client, _: click.Context) -> Iterable[str]:
    return (stack.name for stack in list_stacks(client))


def _resources(client: Client, ctx: click.Context) -> Iterable[str]:
    stack = find_stack(client, str(ctx.params.get("stack")))
    return () if stack is None else by_path(stack, resources_of(client, stack))


def _servers(client: Client, ctx: click.Context) -> Iterable[str]:
    stack = find_stack(client, str(ctx.params.get("stack")))
    if stack is None:
        return ()
    known = by_path(stack, resources_of(client, stack))
    return (path for path, each in known.items() if each.type_name in SERVERS)


def parameters(_: click.Context, __: click.Parameter, incomplete: str) -> list[str]:
    """Return the parameters of the template, as ``NAME=``.

    The template is searched among the words of the line. Click does not parse arguments of a line
    that ends within an option.
    """
    try:
        words = map(Path, split_arg_string(os.environ.get("COMP_WORDS", "")))
        template = next(word for word in words if word.suffix in TEMPLATES and word.is_file())
        data: Any = read(template.read_text(encoding="utf-8")).data
        declared = [*(data.get("parameters") or {}), *(data.get("Parameters") or {})]
    except Exception:  # noqa: BLE001 - a template that cannot be read has no candidates
        return []
    return [f"{name}=" for name in declared if str(name).startswith(incomplete)]


stacks = _completed(_stacks)
resources = _completed(_resources)
servers = _completed(_servers)
