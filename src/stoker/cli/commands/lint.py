"""``stoker lint``: finds mistakes, risks and habits in templates."""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import wraps
from importlib.metadata import version
from pathlib import Path
from typing import Any

import click
from msgspec import Struct

from stoker.cli.arguments import options
from stoker.cli.arguments.locations import Location
from stoker.cli.authoring.discovery import documents_in
from stoker.cli.authoring.lint.catalogue import all_rules
from stoker.cli.authoring.lint.explanation import explanation, list_of_rules
from stoker.cli.authoring.lint.files import lint_files
from stoker.cli.authoring.lint.reports import FORMATS, report
from stoker.cli.authoring.lint.rule import Level
from stoker.cli.authoring.lint.settings import SettingsFiles
from stoker.cli.console.failures import BAD_INPUT, InputError
from stoker.cli.console.findings import has_errors
from stoker.kernel.diagnostics import did_you_mean


class _Reporting(Struct, frozen=True):
    """Form and place of the findings, and the severity that fails."""

    form: str
    output: Path | None
    is_strict: bool
    is_correcting: bool


def _selection(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add the options that choose rules; the command gets ``files`` with the settings."""

    @wraps(command)
    def with_settings(
        level: str | None,
        only: tuple[str, ...],
        ignored: tuple[str, ...],
        config: Path | None,
        **others: Any,
    ) -> Any:
        chosen = None if level is None else Level(level)
        return command(files=SettingsFiles(chosen, only, ignored, config), **others)

    for option in (_CONFIG, _IGNORE, _RULE, _LEVEL):
        with_settings = option(with_settings)
    return with_settings


_LEVEL = click.option(
    "--level",
    type=click.Choice([str(level) for level in Level]),
    help="Rules that run: near-certain mistakes and risks (default), also good practice (strict),"
    " or also style (all).",
)
_RULE = click.option(
    "--rule",
    "only",
    multiple=True,
    metavar="NAME",
    help="Report only this rule or group of rules; repeatable.",
)
_IGNORE = click.option(
    "--ignore",
    "ignored",
    multiple=True,
    metavar="NAME",
    help="Leave out this rule or group of rules; repeatable.",
)
_CONFIG = click.option(
    "--config",
    type=click.Path(path_type=Path, exists=True, dir_okay=False),
    help="Settings file. Default: .stokerlint.yaml in the directory of each document and above.",
)


def _reporting(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add the options of the output; the command gets ``reporting``."""

    @wraps(command)
    def with_reporting(
        form: str, output: Path | None, strict: bool, fix: bool, **others: Any
    ) -> Any:
        return command(reporting=_Reporting(form, output, strict, fix), **others)

    for option in (_FIX, _STRICT, _OUTPUT, _JSON, _FORMAT):
        with_reporting = option(with_reporting)
    return with_reporting


_FORMAT = click.option(
    "--format",
    "form",
    type=click.Choice(list(FORMATS)),
    default="text",
    show_default=True,
    help="Output for people, programs, code hosts, or CI.",
)
_JSON = click.option("--json", "form", flag_value="json", help="Print JSON, as --format json does.")
_OUTPUT = click.option(
    "--output",
    type=click.Path(path_type=Path, dir_okay=False),
    help="File for the findings. Default: standard output.",
)
_FIX = click.option(
    "--fix",
    is_flag=True,
    help="Write certain corrections into the files first, as quotes around 0644.",
)
_STRICT = click.option("--strict", is_flag=True, help="Treat warnings as errors.")


def _list_rules(context: click.Context, _: click.Parameter, is_given: bool) -> None:
    if is_given and not context.resilient_parsing:
        click.echo(list_of_rules())
        context.exit()


def _explain(context: click.Context, _: click.Parameter, name: str | None) -> None:
    if name is None or context.resilient_parsing:
        return
    rule = all_rules().get(name)
    if rule is None:
        near = did_you_mean(name, all_rules()) or "--list-rules lists them"
        raise InputError(f'there is no rule "{name}"; {near}')
    click.echo(explanation(rule))
    context.exit()


@click.command("lint")
@click.argument("paths", type=click.Path(path_type=Path), nargs=-1)
@options.environments
@options.auto_environment
@_selection
@_reporting
@click.option(
    "--list-rules",
    is_flag=True,
    is_eager=True,
    expose_value=False,
    callback=_list_rules,
    help="List the rules and exit.",
)
@click.option(
    "--explain",
    metavar="RULE",
    is_eager=True,
    expose_value=False,
    callback=_explain,
    help="Explain a rule with examples and exit.",
)
def command(
    paths: tuple[Path, ...],
    environments: tuple[Location, ...],
    auto_environment: bool,
    files: SettingsFiles,
    reporting: _Reporting,
) -> None:
    """Find mistakes, risks and habits in templates and environments. Needs no service.

    PATHS are files, or directories (default: the current one), in which all templates and
    environments are found by their content. "-" is the standard input. The findings of
    "stoker validate" are included.

    The comment "# stoker: ignore=RULE" ignores a finding in its line or the next one. The file
    .stokerlint.yaml switches rules and sets their severities.

    Exit code 0: no errors; 2: errors, or with --strict warnings.

    \b
    Examples
      stoker lint
      stoker lint --level strict templates/ -e production.yaml
      stoker lint --explain open-admin-port
      stoker lint --format sarif --output lint.sarif app.yaml
    """
    documents = documents_in(paths or (Path(),))
    outcome = lint_files(
        documents,
        environments,
        files,
        auto_environment=auto_environment,
        is_correcting=reporting.is_correcting,
    )
    for path in outcome.corrected:
        click.echo(f"{path} is corrected", err=True)
    text = report(reporting.form, outcome, version("stoker"))
    if reporting.output is not None:
        reporting.output.write_text(f"{text}\n", "utf-8")
    elif text:
        click.echo(text)
    if has_errors(outcome.found) or (reporting.is_strict and outcome.found):
        sys.exit(BAD_INPUT)
