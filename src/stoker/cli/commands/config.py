"""``stoker config``: checks configuration files, and prints a sample."""

from __future__ import annotations

from pathlib import Path

import click
from msgspec.structs import asdict

from stoker.cli import configuration
from stoker.cli.arguments import options
from stoker.cli.console.console import print_json
from stoker.cli.console.failures import CommandError, InputError
from stoker.config.checking import Kind
from stoker.config.files import ConfigFiles, usual_files
from stoker.config.sample import sample

_FAULTS = (Kind.WRONG, Kind.UNKNOWN)  # findings that need a change


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
@click.option(
    "--online",
    is_flag=True,
    help="Also log in to the identity service and connect to the database.",
)
@options.as_json
@options.config_files
def check(files: tuple[Path, ...], config: ConfigFiles, online: bool, as_json: bool) -> None:
    """Report errors in configuration files, and options without effect.

    Each line names file, line, option and remedy. Without files, those are checked that "stoker
    serve --no-local-cloud" reads: /etc/stoker/stoker.conf, or else /etc/heat/heat.conf, with the
    files in the directory of the same name and ".d". Passwords are not printed.

    With --online the database, the users of the service, its entries in the catalog, and the domain
    and role of stack users are checked, too. Nothing is written.

    Exit code: 0 if there is nothing to do, 1 if something is wrong or unknown, 2 if a file cannot
    be read.

    \b
    Examples
      stoker config check /etc/heat/heat.conf
      stoker config check --online
      stoker config check --config-dir /etc/heat/heat.conf.d
    """
    named = ConfigFiles((*files, *config.files), config.directories) or usual_files()
    if not named:
        raise InputError("there is no /etc/stoker/stoker.conf nor /etc/heat/heat.conf; name a file")
    findings = configuration.findings_in(named)
    if online and not any(finding.kind is Kind.WRONG for finding in findings):
        findings = [*configuration.found_online(named), *findings]
    if as_json:
        print_json([{**asdict(each), "file": str(each.file)} for each in findings])
    else:
        for finding in findings:
            click.echo(str(finding))
    faults = sum(finding.kind in _FAULTS for finding in findings)
    if faults:
        raise CommandError(f"{faults} {'line needs' if faults == 1 else 'lines need'} a change")
    if not as_json:
        click.echo(f"{', '.join(map(str, named.all()))}: nothing to do")


@command.command("sample")
def print_sample() -> None:
    """Print a configuration file with every option, its meaning and its default, as comments.

    \b
    Examples
      stoker config sample > /etc/stoker/stoker.conf
    """
    click.echo(sample())
