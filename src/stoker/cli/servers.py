"""Servers in arguments of commands, and the arguments for a program in or beside one."""

from __future__ import annotations

from collections.abc import Iterable

import click

from stoker.cli.arguments.naming import by_path, candidates, the_stack
from stoker.cli.client.client import Client
from stoker.cli.client.stacks import SERVERS, Server, find_stack, list_stacks, resources_of, servers
from stoker.cli.console.failures import InputError
from stoker.kernel.diagnostics import did_you_mean

_MOST_COMMANDS = 20
_PASSED_ON = "stoker.cli.servers.passed_on"


def find_server(client: Client, name: str) -> Server:
    """Return the server with this name or id, or at STACK/PATH, or the only one below it.

    PATH has the names of the resources that lead to it through nested stacks. Raise
    :class:`InputError`, with the servers of the stack.
    """
    stack_name, _, path = name.partition("/")
    there = {server.id: server for server in servers(client)}
    named = [each for each in there.values() if name in (each.id, each.name)]
    if len(named) == 1:
        return named[0]
    if named:
        raise InputError(
            f'"{name}" means several servers; name one:\n{_commands(each.id for each in named)}'
        )
    stack = find_stack(client, stack_name)
    if stack is None and not path:
        names = [*(each.name for each in list_stacks(client)), *(s.name for s in there.values())]
        hint = did_you_mean(name, names)
        near = "" if hint is None else f" ({hint})"
        raise InputError(
            f'there is no stack and no server "{name}"{near}; "stoker list" lists the stacks'
        )
    stack = stack or the_stack(client, stack_name)
    known = {
        place: there[resource.physical_id]
        for place, resource in by_path(stack, resources_of(client, stack)).items()
        if resource.type_name in SERVERS and resource.physical_id in there
    }
    fitting = _fitting(path, known)
    if len(fitting) == 1:
        return known[fitting[0]]
    if fitting:
        lines = _commands(f"{stack_name} {place}" for place in fitting)
        raise InputError(f'"{name}" means several servers; name one:\n{lines}')
    if not path:
        raise InputError(f"the stack {stack_name} has no servers")
    raise InputError(f'there is no server "{path}" in {stack_name}{candidates(path, known)}')


def _fitting(path: str, known: Iterable[str]) -> list[str]:
    """Return the paths that match: the path itself, paths below it, or paths that end with it."""
    places = sorted(known)
    if not path or path in places:
        return [path] if path else places
    below = [place for place in places if place.startswith(f"{path}/")]
    return below or [place for place in places if place.endswith(f"/{path}")]


def _commands(servers: Iterable[str]) -> str:
    """Return the current command for each of the servers, one per line."""
    context = click.get_current_context(silent=True)
    command = "stoker logs" if context is None else context.command_path
    lines = [f"  {command} {server}" for server in servers]
    more = [f"  and {len(lines) - _MOST_COMMANDS} more"] if len(lines) > _MOST_COMMANDS else []
    return "\n".join([*lines[:_MOST_COMMANDS], *more])


def server_path(stack: str, resource: str | None) -> str:
    """Return the arguments of :func:`find_server` for STACK and SERVER of a command."""
    return stack if resource is None else f"{stack}/{resource}"


class PassingOn(click.Command):
    """A command that passes the words after ``--`` to another program, unchanged."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Keep the words after the first ``--``; the rest is for the command itself."""
        at = args.index("--") if "--" in args else len(args)
        ctx.meta[_PASSED_ON] = tuple(args[at + 1 :])
        return super().parse_args(ctx, args[:at])

    @staticmethod
    def words() -> tuple[str, ...]:
        """Return the words after ``--`` of the running command."""
        found: tuple[str, ...] = click.get_current_context().meta[_PASSED_ON]
        return found
