"""Questions that are asked before something is lost."""

from __future__ import annotations

import sys

import click

from stoker.cli.failures import BadInput


def confirm(question: str) -> None:
    """Return if the answer is yes; end the command if it is no.

    Raises :class:`BadInput` where nobody can answer.
    """
    try:
        agreed = click.confirm(question)
    except click.Abort:
        if sys.stdin.isatty():
            raise
        raise BadInput("cannot ask for confirmation without a terminal; use --yes") from None
    if not agreed:
        raise click.Abort
