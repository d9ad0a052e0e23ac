"""Base of commands that use the database of a service directly."""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from click.core import ParameterSource
from sqlalchemy.exc import SQLAlchemyError

from stoker.admin.database import Administration
from stoker.cli import configuration
from stoker.cli.arguments import options
from stoker.cli.console.failures import CommandError
from stoker.config.database import database_settings
from stoker.config.files import ConfigFiles, usual_files
from stoker.kernel.errors import NotFoundError

if TYPE_CHECKING:
    from oslo_config.cfg import ConfigOpts


def administered(command: Callable[..., Any]) -> Callable[..., Any]:
    """Pass the ``administration`` of the database in the options, ``conf`` and ``data_dir``.

    Errors of the database become a message.
    """

    @wraps(command)
    def with_database(
        data_dir: Path, config: ConfigFiles, database: str | None, **others: Any
    ) -> Any:
        source = click.get_current_context().get_parameter_source("data_dir")
        named = source is not ParameterSource.DEFAULT
        if not (
            named or config or database or "STOKER_DATA_DIR" in os.environ or data_dir.exists()
        ):
            config = _installed(data_dir)
        conf = administered_conf(config, data_dir, database, named=named)
        settings = database_settings(conf)
        with_refusals = telling_refusals(command)
        return with_refusals(
            administration=Administration(settings),
            data_dir=settings.data_dir,
            database=settings,
            **others,
        )

    return options.data_dir(options.config_files(options.database(with_database)))


def _installed(data_dir: Path) -> ConfigFiles:
    """Return the files of the installed service. Raise CommandError if there is none."""
    found = usual_files()
    if not found:
        raise CommandError(
            f"there is no service in {data_dir}, nor an /etc/stoker/stoker.conf: name the database"
            " with --database, the configuration with --config-file, or the data directory with"
            " --data-dir"
        )
    return found


def administered_conf(
    config: ConfigFiles, data_dir: Path, database: str | None, *, named: bool
) -> ConfigOpts:
    """Return the options of the files, with the named data directory or else theirs."""
    conf = configuration.read(config)
    if database:
        conf.set_override("connection", database, "database")
    if named or not conf.data_dir:
        conf.set_override("data_dir", str(data_dir))
    return conf


def telling_refusals(command: Callable[..., Any]) -> Callable[..., Any]:
    """Return the command. Errors of the database become a message."""

    @wraps(command)
    def wrapper(*target: Any, **arguments: Any) -> Any:
        try:
            return command(*target, **arguments)
        except (ValueError, NotFoundError, SQLAlchemyError) as error:
            lines = [line.strip() for line in str(error).splitlines() if line.strip()]
            raise CommandError(lines[0] if lines else type(error).__name__) from None

    return wrapper
