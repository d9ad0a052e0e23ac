"""Asks for confirmation before something is lost."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Sequence

import click
from rich.console import Console

from stoker.cli.client.client import Client
from stoker.cli.console.console import say
from stoker.cli.console.failures import InputError
from stoker.cli.deploy.plan import Change

_MOST_NAMES = 10


def confirm(question: str, client: Client | None = None) -> None:
    """Return if the answer is yes; otherwise end the command.

    The question names the cloud of the ``client``, unless it is that of the data directory. Raise
    :class:`InputError` without a terminal.
    """
    if client is not None and client.foreign_cloud:
        question = f"{question.removesuffix('?')}, on {client.foreign_cloud}?"
    try:
        agreed = click.confirm(question, err=not sys.stdout.isatty())
    except click.Abort:
        if sys.stdin.isatty():
            raise
        raise InputError("cannot ask for confirmation without a terminal; use --yes") from None
    if not agreed:
        raise click.Abort


def print_warnings(warnings: Iterable[str], console: Console) -> None:
    """Print the warnings of a plan, one per line."""
    for line in warnings:
        say(console, line, "yellow")


def confirm_changes(question: str, changes: Sequence[Change], client: Client) -> None:
    """Ask the question, then another one if data of users would be deleted or overwritten."""
    confirm(question, client)
    lost = [change for change in changes if change.loses_data]
    if not lost:
        return
    names = ["/".join(change.path) for change in lost]
    more = f" and {len(names) - _MOST_NAMES} more" if len(names) > _MOST_NAMES else ""
    words = f"The data of {', '.join(names[:_MOST_NAMES])}{more} cannot be restored."
    is_deleted = any(change.is_loss for change in lost)
    if is_deleted:
        words += (
            ' To keep an object, first deploy its resource with "deletion_policy: retain" or'
            ' "snapshot".'
        )
    click.echo(words)
    confirm("Delete the data?" if is_deleted else "Overwrite the data?")
