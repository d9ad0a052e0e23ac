"""``stoker validate``: checks templates without a service."""

from __future__ import annotations

import sys
from importlib.metadata import version
from pathlib import Path

import click

from stoker.cli.arguments import options
from stoker.cli.console.failures import BAD_INPUT
from stoker.cli.console.findings import Finding, as_json, as_sarif, as_text, has_errors
from stoker.cli.deploy.request import TemplateFile
from stoker.cli.offline import check

_FILE = TemplateFile(path_type=Path)


@click.command("validate")
@click.argument("templates", type=_FILE, nargs=-1, required=True)
@options.environments
@options.parameters
@click.option(
    "--format",
    "form",
    type=click.Choice(["text", "json", "sarif"]),
    default="text",
    show_default=True,
    help="Output for people, programs, or editors and code hosts.",
)
@click.option("--strict", is_flag=True, help="Treat warnings as errors.")
def command(
    templates: tuple[Path, ...],
    environments: tuple[Path, ...],
    parameters: dict[str, str],
    form: str,
    strict: bool,
) -> None:
    """Check TEMPLATES and all files they refer to. Needs no service and no cloud.

    Prints all findings, each with file, line and column. Whatever "stoker deploy" would refuse is
    an error. Without -e and -P, parameters without a default are assumed to get valid values later.
    A template of - is read from standard input.

    Exit code 0: no errors; 2: errors, or with --strict warnings.

    \b
    Examples
      stoker validate examples/*.yaml
      stoker validate app.yaml -e production.yaml -P port=80
      stoker validate --format sarif app.yaml > findings.sarif
      ./generate | stoker validate -
    """
    found: list[Finding] = []
    texts: dict[str, str] = {}
    for template in templates:
        findings, documents = check(template, environments, parameters)
        found += findings
        texts.update(documents)
    if form == "json":
        click.echo(as_json(found))
    elif form == "sarif":
        click.echo(as_sarif(found, version("stoker")))
    elif found:
        click.echo(as_text(found, texts))
    else:
        click.echo(", ".join(f"{template}: OK" for template in templates))
    if has_errors(found) or (strict and found):
        sys.exit(BAD_INPUT)
