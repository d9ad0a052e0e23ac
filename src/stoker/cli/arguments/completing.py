"""Completes names in shells: stacks, resources, servers and parameters.

Completion never starts a service, prints nothing and raises nothing: without an answer within a
second or two there are no candidates.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from contextlib import closing
from itertools import islice
from pathlib import Path

import click
import httpx
from click.core import ParameterSource
from click.shell_completion import split_arg_string

from stoker.cli.arguments.data_dir import default_data_dir
from stoker.cli.arguments.documents import read_file
from stoker.cli.arguments.files import TEMPLATES, declared_parameters
from stoker.cli.arguments.naming import by_path
from stoker.cli.client.client import Client
from stoker.cli.client.credentials import in_data_dir
from stoker.cli.client.stacks import (
    SERVERS,
    Stack,
    find_stack,
    output_names,
    resources_of,
    snapshots_of,
    stacks_by_page,
)
from stoker.cli.client.target import Target

Names = Callable[[Client, click.Context], Iterable[str]]
_TIMEOUT = httpx.Timeout(2.0, connect=1.0)  # Users wait for a completion.
_MOST = 1000  # stacks


def _completed(names: Names) -> Callable[[click.Context, click.Parameter, str], list[str]]:
    def complete(ctx: click.Context, _: click.Parameter, incomplete: str) -> list[str]:
        try:
            client = _client(ctx)
            if client is None:
                return []
            with closing(client):
                return [name for name in names(client, ctx) if name.startswith(incomplete)]
        except Exception:  # noqa: BLE001 - an error would be printed into the user's line
            return []

    return complete


def _client(ctx: click.Context) -> Client | None:
    chosen = ctx.params.get("data_dir")
    data_dir = chosen if isinstance(chosen, Path) else Path(default_data_dir())
    is_named = ctx.get_parameter_source("data_dir") is ParameterSource.COMMANDLINE
    target = Target(data_dir, ctx.params.get("url"), is_named)
    credentials = target.foreign() or in_data_dir(data_dir)
    return None if credentials is None else Client(credentials, target.url, timeout=_TIMEOUT)


def _stacks(client: Client, _: click.Context) -> Iterable[str]:
    return (stack.name for stack in islice(stacks_by_page(client, {}), _MOST))


def _of_stack(names: Callable[[Client, Stack], Iterable[str]], argument: str = "stack") -> Names:
    """Return a function for the names in the stack that another argument names."""

    def found(client: Client, ctx: click.Context) -> Iterable[str]:
        stack = find_stack(client, str(ctx.params.get(argument)), outputs=False)
        return () if stack is None else names(client, stack)

    return found


def _resources(client: Client, stack: Stack) -> Iterable[str]:
    return by_path(stack, resources_of(client, stack))


def _servers(client: Client, stack: Stack) -> Iterable[str]:
    known = by_path(stack, resources_of(client, stack))
    return (path for path, each in known.items() if each.type_name in SERVERS)


def _snapshots(client: Client, stack: Stack) -> Iterable[str]:
    return (each["name"] or each["id"] for each in snapshots_of(client, stack))


def parameters(_: click.Context, __: click.Parameter, incomplete: str) -> list[str]:
    """Return the parameters of the template, as ``NAME=``.

    The template is searched among the words of the line. Click does not parse arguments of a line
    that ends within an option.
    """
    try:
        words = map(Path, split_arg_string(os.environ.get("COMP_WORDS", "")))
        template = next(word for word in words if word.suffix in TEMPLATES and word.is_file())
        declared = declared_parameters(read_file(template))
    except Exception:  # noqa: BLE001 - a template that cannot be read has no candidates
        return []
    return [f"{name}=" for name in declared if name.startswith(incomplete)]


stacks = _completed(_stacks)
resources = _completed(_of_stack(_resources))
servers = _completed(_of_stack(_servers))
outputs = _completed(_of_stack(output_names))
snapshots = _completed(_of_stack(_snapshots, "stack_name"))
