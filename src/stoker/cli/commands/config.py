"""``stoker config``: what is wrong with configuration files, and what could stand in them."""

from __future__ import annotations

from pathlib import Path

import click

from stoker.cli import configuration, options
from stoker.cli.failures import BadInput, CommandFailed
from stoker.config.checking import Kind
from stoker.config.files import ConfigFiles, usual_files
from stoker.config.sample import sample

_TELLS = (Kind.WRONG, Kind.UNKNOWN)
"""Findings for which something has to be done."""


@click.group("config")
def command() -> None:
    """Check configuration files, and print a sample.

    \b
    Examples
      stoker config check /etc/heat/heat.conf
      stoker config sample > /etc/stoker/stoker.conf
    """


@command.command("check")
@click.argument("files", nargs=-1, type=click.Path(path_type=Path, exists=True, dir_okay=False))
@options.config_files
def check(files: tuple[Path, ...], config: ConfigFiles) -> None:
    """Say what is wrong in configuration files, and what in them has no effect.

    Each line names file, line and option, and what to do. Without files, those are checked that
    "stoker serve --no-local-cloud" reads: /etc/stoker/stoker.conf, or else /etc/heat/heat.conf,
    with the files in the directory of the same name and ".d". Passwords are not printed.

    Exit code: 0 if nothing has to be done, 1 if something is wrong or unknown, 2 if a file cannot
    be read.

    \b
    Examples
      stoker config check /etc/heat/heat.conf
      stoker config check --config-dir /etc/heat/heat.conf.d
    """
    named = ConfigFiles((*files, *config.files), config.directories) or usual_files()
    if not named:
        raise BadInput("there is no /etc/stoker/stoker.conf nor /etc/heat/heat.conf; name a file")
    findings = configuration.findings_in(named)
    for finding in findings:
        click.echo(str(finding))
    bad = sum(finding.kind in _TELLS for finding in findings)
    if bad:
        raise CommandFailed(
            f"{bad} of these {_lines(len(findings))} something has to be done about"
        )
    click.echo(f"{', '.join(map(str, named.all()))}: nothing has to be done")


def _lines(count: int) -> str:
    return "line" if count == 1 else f"{count} lines"


@command.command("sample")
def print_sample() -> None:
    """Print a configuration file with every option, its meaning and its default, as comments.

    \b
    Examples
      stoker config sample > /etc/stoker/stoker.conf
    """
    click.echo(sample())
