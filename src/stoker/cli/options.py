"""Options that several commands share."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import click
from click.core import ParameterSource

from stoker.cli.data_dir import default_data_dir

data_dir = click.option(
    "--data-dir",
    type=click.Path(path_type=Path, file_okay=False, resolve_path=True),
    default=default_data_dir,
    show_default="$STOKER_DATA_DIR or ~/.local/share/stoker",
    help="Directory of the service: its database, its local cloud, clouds.yaml and openrc.",
)

_url = click.option(
    "--url",
    metavar="URL",
    help="Address of the service, as http://127.0.0.1:8004, if it is not that of the catalog.",
)


def service(command: Callable[..., Any]) -> Callable[..., Any]:
    """The options that say which service a command speaks to."""
    return data_dir(_url(command))


def names_data_dir() -> bool:
    """Whether the data directory stands on the command line of the command that runs."""
    context = click.get_current_context()
    return context.get_parameter_source("data_dir") is ParameterSource.COMMANDLINE


def name_and_value(
    _: click.Context, option: click.Parameter, given: tuple[str, ...]
) -> dict[str, str]:
    """Callback of options of the form ``NAME=VALUE`` that can be given several times."""
    found = {}
    for text in given:
        name, equals, value = text.partition("=")
        if not equals or not name:
            raise click.BadParameter(f'"{text}" is not of the form NAME=VALUE', param=option)
        found[name] = value
    return found
