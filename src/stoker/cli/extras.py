"""Errors for commands whose extra is not installed."""

from __future__ import annotations

from stoker.cli.console.failures import CommandError
from stoker.kernel.extras import extra_of, install_command, is_installed


def require(extra: str, user: str) -> None:
    """Raise :class:`CommandError` unless an extra is installed.

    ``user`` is the subject of the sentence, as "the local cloud".
    """
    if not is_installed(extra):
        raise _missing(extra, user)


def explained(error: ModuleNotFoundError, user: str) -> Exception:
    """Return the error for a module of an extra. Return any other error as it is."""
    extra = extra_of(error.name)
    return error if extra is None else _missing(extra, user)


def _missing(extra: str, user: str) -> CommandError:
    return CommandError(
        f"{user} needs stoker[{extra}], which is not installed; {install_command(extra)} adds it"
    )
