"""Servers as commands name them, and what a command passes on to a program in or beside one."""

from __future__ import annotations

import click

from stoker.cli.client import Client
from stoker.cli.failures import BadInput
from stoker.cli.stacks import Server, find_stack, resources_of, servers

_SERVER = "OS::Nova::Server"
_PASSED_ON = "stoker.cli.servers.passed_on"


def find_server(client: Client, wanted: str) -> Server:
    """The server of that name or id, the one of STACK/RESOURCE, or the only one of a stack.

    Raises :class:`BadInput` with those there are.
    """
    stack_name, _, resource_name = wanted.partition("/")
    there = servers(client)
    named = [each for each in there if wanted in (each.id, each.name)]
    if not named:
        named = _of_stack(client, stack_name, resource_name, there)
    if len(named) == 1:
        return named[0]
    if named:
        listed = ", ".join(f"{each.name} ({each.id})" for each in named)
        raise BadInput(f'"{wanted}" means several servers: {listed}')
    listed = ", ".join(each.name for each in there) or "none"
    raise BadInput(f'there is no server "{wanted}"; there are: {listed}')


def _of_stack(client: Client, name: str, resource: str, there: list[Server]) -> list[Server]:
    stack = find_stack(client, name)
    if stack is None:
        return []
    ids = {
        each.physical_id
        for each in resources_of(client, stack)
        if each.type_name == _SERVER and resource in ("", each.name)
    }
    return [each for each in there if each.id in ids]


def wanted_server(stack: str, resource: str | None) -> str:
    """What :func:`find_server` takes for the arguments STACK and SERVER of a command."""
    return stack if resource is None else f"{stack}/{resource}"


class PassingOn(click.Command):
    """A command that hands what stands behind ``--`` on to another program, as it is."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Keep what stands behind the first ``--``; the rest is for the command itself."""
        at = args.index("--") if "--" in args else len(args)
        ctx.meta[_PASSED_ON] = tuple(args[at + 1 :])
        return super().parse_args(ctx, args[:at])

    @staticmethod
    def words() -> tuple[str, ...]:
        """What stood behind ``--`` of the command that runs."""
        found: tuple[str, ...] = click.get_current_context().meta[_PASSED_ON]
        return found
