"""Failures of commands: a sentence, and an exit code."""

from __future__ import annotations

from typing import IO, Any

import click

from stoker.cli.console.control_characters import visible

FAILED = 1
BAD_INPUT = 2
DRIFTED = 2


class CommandError(click.ClickException):
    """The command cannot continue. The text has the reason and a remedy."""

    exit_code = FAILED

    def show(self, file: IO[Any] | None = None) -> None:
        """Print the sentence as ``stoker: ...``."""
        click.echo(f"stoker: {visible(self.format_message())}", file=file, err=True)


class InputError(CommandError):
    """An input of the user is wrong: a file, an option, an environment variable."""

    exit_code = BAD_INPUT
