"""``stoker output``: the outputs of a stack, or the value of one for a script."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from contextlib import closing

import click
from rich.console import Console

from stoker.cli.arguments import completing
from stoker.cli.arguments import options as shared
from stoker.cli.arguments.naming import candidates, the_stack
from stoker.cli.client.client import Client
from stoker.cli.client.stacks import Output, Stack, exact_output, exact_outputs, output_names
from stoker.cli.client.target import Target
from stoker.cli.console.console import print_json
from stoker.cli.console.control_characters import all_visible, visible
from stoker.cli.console.failures import FAILED, InputError
from stoker.cli.deploy.outcome import print_outputs
from stoker.cli.local.service import connect
from stoker.kernel.values import replace


@click.command("output")
@click.argument("stack", shell_complete=completing.stacks)
@click.argument("name", required=False, shell_complete=completing.outputs)
@shared.as_json
@shared.service
def command(stack: str, name: str | None, as_json: bool, target: Target) -> None:
    """Print the outputs of STACK, or only the value of the output NAME.

    The value of NAME is printed for scripts: a text without quotes and with one line break at its
    end, any other value as JSON. With --json, a text has quotes; without NAME, all values are one
    object.

    Exit code 0: done; 1: a value cannot be computed; 2: there is no such stack or output.

    \b
    Examples
      stoker output web-app
      curl "$(stoker output web-app url)"
      stoker output web-app --json | jq -r .url
    """
    with closing(connect(target)) as client:
        found = the_stack(client, stack, outputs=False)
        if name is None:
            outputs = exact_outputs(client, found)
        else:
            outputs = (_the_output(client, found, name),)
    if as_json:
        values = {each.name: each.value for each in outputs}
        print_json(values if name is None else values[outputs[0].name])
    elif name is None:
        print_outputs(Console(), [_shown(each) for each in outputs])
    else:
        _print_raw(outputs[0])
    _report_errors(outputs)


def _the_output(client: Client, stack: Stack, name: str) -> Output:
    """Return an output of a stack. Raise :class:`InputError` if there is none."""
    found = exact_output(client, stack, name)
    if found is None:
        known = output_names(client, stack)
        raise InputError(f'there is no output "{name}" in {stack.name}{candidates(name, known)}')
    return found


def _print_raw(output: Output) -> None:
    """Print a value. Only a program gets control characters, which a terminal would obey."""
    if output.error is not None:
        return
    if not isinstance(output.value, str):
        print_json(output.value)
        return
    text = output.value.removesuffix("\n")
    click.echo(visible(text) if sys.stdout.isatty() else text)


def _shown(output: Output) -> Output:
    return replace(output, value=all_visible(output.value))


def _report_errors(outputs: Sequence[Output]) -> None:
    """End the process with an error if a value could not be computed."""
    failed = [each for each in outputs if each.error is not None]
    for each in failed:
        reason = visible(str(each.error))
        click.echo(f"stoker: the output {json.dumps(each.name)} has no value: {reason}", err=True)
    if failed:
        sys.exit(FAILED)
