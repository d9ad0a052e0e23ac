"""The command ``stoker``: a group whose commands are loaded when they are used.

``stoker serve`` is ready in little more than a second because it does not load the modules of other
commands, and the other way round.
"""

from __future__ import annotations

import atexit
import gc
import importlib
import sys
from collections.abc import Mapping
from difflib import get_close_matches
from typing import Any

import click

from stoker.cli.console.failures import CommandError
from stoker.cli.extras import explained
from stoker.kernel.freeing import loading

# The interpreter collects garbage before it exits, which takes longer than ending the process.
atexit.register(gc.freeze)

# Commands in the order of the help, with their summaries. Each has a module in ``commands``.
COMMANDS: Mapping[str, str] = {
    "serve": "Run the service, and by default a local cloud.",
    "deploy": "Create or update a stack from a template, and show its progress.",
    "plan": "Show what a deployment would change.",
    "rehearse": "Try a deployment in a local cloud that is removed afterwards.",
    "import": "Make existing objects resources of a stack.",
    "generate": "Write a template of existing objects.",
    "refactor": "Move resources between stacks, or into nested stacks and out of them.",
    "forget": "Remove resources from a stack, and keep their objects.",
    "drift": "Show what others have changed of a stack's objects, and repair it.",
    "cancel": "Stop the create or update of a stack.",
    "list": "List the stacks of the project.",
    "open": "Open the console in a browser, signed in.",
    "status": "Show the service and its stacks, or one stack.",
    "output": "Print the outputs of a stack, or one for a script.",
    "events": "Print the events of a stack, also as they happen.",
    "timeline": "Show an operation of a stack as bars over time.",
    "graph": "Draw the resources of a stack or a template, and their dependencies.",
    "why": "Say why a stack or a resource waits, failed, or was replaced.",
    "snapshot": "Take snapshots of stacks, and bring stacks back to them.",
    "logs": "Show the console log of a server.",
    "ssh": "Log in to a server with ssh.",
    "exec": "Run a command in a server of the local cloud.",
    "destroy": "Delete a stack and everything in it.",
    "validate": "Check templates offline.",
    "fmt": "Format templates and environments.",
    "lint": "Find mistakes, risks and habits in templates.",
    "test": "Run tests of templates, without a cloud.",
    "lsp": "Serve an editor: findings, completion and changes of templates.",
    "schema": "Print JSON Schemas of templates for editors.",
    "new": "Start a project of templates from an example.",
    "console": "Evaluate expressions of the template language.",
    "convert": "Convert between HOT and CloudFormation, or Compose files to servers.",
    "takeover": "Take over the stacks of a running Heat.",
    "db": "Look after the database and its keys.",
    "api": "Answer requests, as one of many processes.",
    "engine": "Drive stacks, as one of many processes.",
    "service": "Show the processes of the service.",
    "config": "Check configuration files, and print a sample.",
    "doctor": "Check whether this machine can run servers, and how to fix what is missing.",
    "policy": "Print a sample of policies, or check a policy file.",
    "stop": "Stop the background service.",
    "completion": "Print a shell completion script.",
}

_MODULES = {"import": "import_objects"}  # modules with other names than their commands


class _Commands(click.Group):
    """Loads a command from its module when it is used."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the names, in the order of their use."""
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Return the command ``command`` of the module with this name."""
        if cmd_name not in COMMANDS:
            return None
        name = f"stoker.cli.commands.{_MODULES.get(cmd_name, cmd_name)}"
        try:
            with loading():
                module = importlib.import_module(name)
        except ModuleNotFoundError as error:
            raise explained(error, f"stoker {cmd_name}") from None
        command: click.Command = module.command
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Return the command in the arguments.

        A misspelt name raises an error with the nearest one.
        """
        if args and not args[0].startswith("-") and args[0] not in COMMANDS:
            near = get_close_matches(args[0], COMMANDS, n=1)
            advice = f'did you mean "{near[0]}"?' if near else "stoker --help lists them"
            ctx.fail(f'there is no command "{args[0]}"; {advice}')
        return super().resolve_command(ctx, args)

    def invoke(self, ctx: click.Context) -> Any:
        """Run the command.

        Errors of the operating system and missing extras become messages without a traceback.
        """
        try:
            return super().invoke(ctx)
        except BrokenPipeError:
            raise  # The reader of the output has closed it.
        except ModuleNotFoundError as error:
            raise explained(error, f"stoker {ctx.invoked_subcommand}") from None
        except OSError as error:
            place = f"{error.filename}: " if error.filename else ""
            raise CommandError(f"{place}{error.strerror or error}") from None

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the list of commands, without loading them."""
        with formatter.section("Commands"):
            formatter.write_dl(list(COMMANDS.items()))


@click.command(cls=_Commands, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="stoker", prog_name="stoker")
def main() -> None:
    """Orchestration for OpenStack: Heat's templates and API, with a cloud on your machine.

    \b
    Start with
      stoker deploy examples/web-app.yaml   # starts a service and a cloud if needed
      stoker status web-app                 # resources, outputs and recent events
      stoker destroy web-app                # delete everything
      stoker stop                           # stop the service

    See stoker COMMAND --help for each command. The OpenStack clients work too: "stoker status"
    shows how to point them at the service.
    """


def heat_manage() -> None:
    """Run the command ``heat-manage``."""
    try:
        module = importlib.import_module("stoker.cli.heat_manage")
    except ModuleNotFoundError as error:
        failure = explained(error, "heat-manage")
        if not isinstance(failure, CommandError):
            raise
        failure.show()
        sys.exit(failure.exit_code)
    module.main()
