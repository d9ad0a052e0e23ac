"""Options that several commands share."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from pathlib import Path
from typing import Any

import click
from click.core import ParameterSource

from stoker.cli.data_dir import default_data_dir
from stoker.cli.target import Target

data_dir = click.option(
    "--data-dir",
    type=click.Path(path_type=Path, file_okay=False, resolve_path=True),
    default=default_data_dir,
    show_default="$STOKER_DATA_DIR or ~/.local/share/stoker",
    help="Directory of the database, the local cloud, clouds.yaml and openrc.",
)

environments = click.option(
    "-e",
    "--environment",
    "environments",
    type=click.Path(path_type=Path),
    multiple=True,
    metavar="FILE",
    help="Environment file; repeatable, merged in order.",
)

wait = click.option(
    "--wait/--no-wait", default=True, show_default=True, help="Wait for the end and show progress."
)

_url = click.option(
    "--url",
    metavar="URL",
    help="Address of the service, e.g. http://127.0.0.1:8004. Default: from the catalog.",
)


def service(command: Callable[..., Any]) -> Callable[..., Any]:
    """The options that say which service a command speaks to; it gets them as ``target``."""

    @wraps(command)
    def with_target(data_dir: Path, url: str | None, **others: Any) -> Any:
        source = click.get_current_context().get_parameter_source("data_dir")
        target = Target(data_dir, url, source is ParameterSource.COMMANDLINE)
        return command(target=target, **others)

    return data_dir(_url(with_target))


def name_and_value(
    _: click.Context, option: click.Parameter, given: tuple[str, ...]
) -> dict[str, str]:
    """Callback of options of the form ``NAME=VALUE`` that can be given several times."""
    found = {}
    for text in given:
        name, equals, value = text.partition("=")
        if not equals or not name:
            raise click.BadParameter(f'"{text}" must have the form NAME=VALUE', param=option)
        found[name] = value
    return found


parameters = click.option(
    "-P",
    "--parameter",
    "parameters",
    multiple=True,
    callback=name_and_value,
    metavar="NAME=VALUE",
    help="Value of a parameter.",
)
