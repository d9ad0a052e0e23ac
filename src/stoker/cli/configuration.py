"""Reads configuration files for commands, and reports findings about them."""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path
from typing import Any

from oslo_config import cfg

from stoker.admin.preflight import missing
from stoker.cli.console.failures import CommandError, InputError
from stoker.cli.local.serve_options import ServeOptions
from stoker.config.checking import Finding, Kind, check, remarks, said_of
from stoker.config.files import ConfigFiles
from stoker.config.loading import is_set, load, read_all
from stoker.kernel.lazy import LazyModule
from stoker.kernel.values import replace

reachability = LazyModule("stoker.admin.reachability")

_PLACES = {
    "host": ("heat_api", "bind_host"),
    "port": ("heat_api", "bind_port"),
    "cfn_host": ("heat_api_cfn", "bind_host"),
    "cfn_port": ("heat_api_cfn", "bind_port"),
    "cloudwatch_host": ("heat_api_cloudwatch", "bind_host"),
    "cloudwatch_port": ("heat_api_cloudwatch", "bind_port"),
    "data_dir": ("DEFAULT", "data_dir"),
    "database": ("database", "connection"),
}


def read(files: ConfigFiles) -> cfg.ConfigOpts:
    """Return the options in files. Raise :class:`CommandError` with all errors."""
    wrong: list[str] = []
    try:
        conf = load(files)
        wrong = [str(finding) for finding in check(files.all(), conf) if finding.kind is Kind.WRONG]
        read_all(conf)
    except (cfg.Error, OSError, ValueError) as error:
        wrong = wrong or [_one_line(error)]
    if wrong:
        raise CommandError(f"the configuration cannot be used: {'; '.join(wrong)}")
    return conf


def findings_in(files: ConfigFiles) -> list[Finding]:
    """Return all findings about files. Raise :class:`InputError` for unreadable ones."""
    try:
        conf = load(files)
        found = check(files.all(), conf)
    except (cfg.Error, OSError, ValueError) as error:
        raise InputError(f"the configuration cannot be read: {_one_line(error)}") from None
    if any(finding.kind is Kind.WRONG for finding in found):
        return found
    return [*(said_of(message, files.all()) for message in missing(conf)), *found]


def found_online(files: ConfigFiles) -> list[Finding]:
    """Contact the services in valid files; return the problems."""
    return [said_of(message, files.all()) for message in reachability.problems_of(load(files))]


def remarks_on(files: ConfigFiles) -> list[Finding]:
    """Return options without effect, unknown options, and options with an old name."""
    return remarks(files.all())


def with_configured(options: ServeOptions, explicit: Collection[str]) -> ServeOptions:
    """Return the options of ``stoker serve``, completed from files."""
    conf = read(options.config)
    set_ = {
        name: conf[option] if group == "DEFAULT" else conf[group][option]
        for name, (group, option) in _PLACES.items()
        if name not in explicit and is_set(conf, group, option)
    }
    if "data_dir" in set_:
        set_["data_dir"] = Path(set_["data_dir"]).resolve()
    return replace(options, **{name: _text(value) for name, value in set_.items()})


def _text(value: Any) -> Any:
    return value if isinstance(value, int | Path) else str(value)


def _one_line(error: Exception) -> str:
    return " ".join(str(error).split()) or type(error).__name__
