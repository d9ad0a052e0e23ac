"""Options that several commands share."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from click.core import ParameterSource
from click.shell_completion import CompletionItem

from stoker.cli.arguments.data_dir import default_data_dir
from stoker.cli.arguments.locations import InputFile
from stoker.cli.client.target import Target
from stoker.config.files import ConfigFiles
from stoker.kernel.lazy import LazyModule

if TYPE_CHECKING:
    from stoker.cli.arguments import completing
else:
    completing = LazyModule("stoker.cli.arguments.completing")

data_dir = click.option(
    "--data-dir",
    type=click.Path(path_type=Path, file_okay=False, resolve_path=True),
    default=default_data_dir,
    show_default="$STOKER_DATA_DIR or ~/.local/share/stoker",
    help="Directory of the database, the local cloud, clouds.yaml and openrc.",
)

database = click.option(
    "--database",
    metavar="URL",
    envvar="STOKER_DATABASE",
    show_envvar=True,
    help="Database, e.g. postgresql+psycopg://USER@HOST/DATABASE. Default: as [database] connection"
    " says, or a file in the data directory.",
)

verify = click.option(
    "--verify",
    is_flag=True,
    envvar="STOKER_VERIFY",
    show_envvar=True,
    help="Compute each incremental evaluation and plan in full as well, and log differences.",
)

_config_file = click.option(
    "--config-file",
    "config_files",
    type=click.Path(path_type=Path, exists=True, dir_okay=False),
    multiple=True,
    help="Configuration file in the format of heat.conf; repeatable.",
)
_config_dir = click.option(
    "--config-dir",
    "config_dirs",
    type=click.Path(path_type=Path, exists=True, file_okay=False),
    multiple=True,
    help="Directory whose *.conf files are read after the configuration files; repeatable.",
)


def config_files(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add the options for configuration files; the command gets ``config``."""

    @wraps(command)
    def with_files(
        config_files: tuple[Path, ...], config_dirs: tuple[Path, ...], **others: Any
    ) -> Any:
        return command(config=ConfigFiles(config_files, config_dirs), **others)

    return _config_file(_config_dir(with_files))


environments = click.option(
    "-e",
    "--environment",
    "environments",
    type=InputFile(),
    multiple=True,
    metavar="FILE",
    help="Environment: a file, a URL, or - for standard input; repeatable, merged in order.",
)

auto_environment = click.option(
    "--auto-environment/--no-auto-environment",
    default=True,
    show_default=True,
    help="Use the environment NAME.env.yaml beside the template NAME.yaml, before all others.",
)

as_json = click.option("--json", "as_json", is_flag=True, help="Print JSON.")

wait = click.option(
    "--wait/--no-wait", default=True, show_default=True, help="Wait for the end and show progress."
)

_url = click.option(
    "--url",
    metavar="URL",
    help="Address of the service, e.g. http://127.0.0.1:8004. Default: from the catalog.",
)


def service(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add the options that choose a service; the command gets ``target``."""

    @wraps(command)
    def with_target(data_dir: Path, url: str | None, **others: Any) -> Any:
        source = click.get_current_context().get_parameter_source("data_dir")
        target = Target(data_dir, url, source is ParameterSource.COMMANDLINE)
        return command(target=target, **others)

    return data_dir(_url(with_target))


def name_and_value(
    _: click.Context, option: click.Parameter, texts: tuple[str, ...]
) -> dict[str, str]:
    """Parse options of the form ``NAME=VALUE``, which may be repeated."""
    found = {}
    for text in texts:
        name, equals, value = text.partition("=")
        if not equals or not name:
            raise click.BadParameter(f'"{text}" must have the form NAME=VALUE', param=option)
        found[name] = value
    return found


def complete_parameters(
    context: click.Context, option: click.Parameter, incomplete: str
) -> list[str]:
    """Return the parameters of the template in the line, as ``NAME=``."""
    found: list[str] = completing.parameters(context, option, incomplete)
    return found


def complete_stacks(context: click.Context, option: click.Parameter, incomplete: str) -> list[str]:
    """Return the names of stacks."""
    found: list[str] = completing.stacks(context, option, incomplete)
    return found


def complete_stacks_and_files(
    context: click.Context, option: click.Parameter, incomplete: str
) -> list[CompletionItem]:
    """Return the names of stacks, and let the shell add files."""
    names = complete_stacks(context, option, incomplete)
    return [*map(CompletionItem, names), CompletionItem(incomplete, type="file")]


parameters = click.option(
    "-P",
    "--parameter",
    "parameters",
    multiple=True,
    callback=name_and_value,
    metavar="NAME=VALUE",
    help="Value of a parameter.",
    shell_complete=complete_parameters,
)
