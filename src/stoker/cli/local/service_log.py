"""Destination and form of the service's log.

Values of variables are left out, because they may hold secrets. Standard output is for the one line
that says ``ready``.
"""

from __future__ import annotations

import logging
from pathlib import Path
from typing import TYPE_CHECKING

from stoker.cli.console.failures import InputError
from stoker.kernel.lazy import LazyModule
from stoker.kernel.logs.lines import JsonFormatter, TextFormatter

if TYPE_CHECKING:
    from logging import handlers as log_files

    from oslo_config.cfg import ConfigOpts
else:
    log_files = LazyModule("logging.handlers")


def configure_log(conf: ConfigOpts) -> None:
    """Send the log of the service and its libraries to standard error, or to the configured file.

    Raise :class:`InputError` for unusable options.
    """
    handlers = [_file(conf) if conf.log_file else logging.StreamHandler()]
    if conf.use_syslog:
        handlers.append(_syslog(conf.syslog_log_facility))
    formatter = _formatter(conf)
    for handler in handlers:
        handler.setFormatter(formatter)
    logging.basicConfig(level=logging.INFO if conf.debug else logging.WARNING, handlers=handlers)
    logging.getLogger("stoker").setLevel(logging.DEBUG if conf.debug else logging.INFO)
    for entry in conf.default_log_levels:
        name, _, level = entry.partition("=")
        try:
            logging.getLogger(name.strip()).setLevel(level.strip())
        except ValueError:
            raise InputError(
                f'default_log_levels: "{entry}" must have the form NAME=LEVEL, as stoker=DEBUG'
            ) from None


def _formatter(conf: ConfigOpts) -> logging.Formatter:
    if conf.use_json:
        return JsonFormatter()
    try:
        return TextFormatter(conf.log_format, conf.log_date_format)
    except ValueError as error:
        raise InputError(f"log_format: {error}") from None


def _file(conf: ConfigOpts) -> logging.Handler:
    """Return a file that is opened again when it was moved away."""
    file = Path(conf.log_dir or ".") / conf.log_file
    file.parent.mkdir(parents=True, exist_ok=True)
    return log_files.WatchedFileHandler(file)


def _syslog(facility: str) -> logging.Handler:
    known = log_files.SysLogHandler.facility_names
    name = facility.removeprefix("LOG_").lower()
    if name not in known:
        raise InputError(
            f'syslog_log_facility: "{facility}" is not one of {", ".join(sorted(known))}'
        )
    return log_files.SysLogHandler("/dev/log", known[name])
