"""``stoker validate``: checks templates without a service."""

from __future__ import annotations

import sys
from importlib.metadata import version

import click

from stoker.cli.arguments import options
from stoker.cli.arguments.files import with_environment_beside
from stoker.cli.arguments.locations import InputFile, Location, require_one_stdin
from stoker.cli.console.failures import BAD_INPUT
from stoker.cli.console.findings import Finding, as_json, as_sarif, as_text, has_errors
from stoker.cli.offline import check


@click.command("validate")
@click.argument("templates", type=InputFile(), nargs=-1, required=True)
@options.environments
@options.auto_environment
@options.parameters
@click.option(
    "--format",
    "form",
    type=click.Choice(["text", "json", "sarif"]),
    default="text",
    show_default=True,
    help="Output for people, programs, or editors and code hosts.",
)
@click.option("--json", "form", flag_value="json", help="Print JSON, as --format json does.")
@click.option("--strict", is_flag=True, help="Treat warnings as errors.")
def command(
    templates: tuple[Location, ...],
    environments: tuple[Location, ...],
    auto_environment: bool,
    parameters: dict[str, str],
    form: str,
    strict: bool,
) -> None:
    """Check TEMPLATES and all files they refer to. Needs no service and no cloud.

    Prints all findings, each with file, line and column. Whatever "stoker deploy" would refuse is
    an error. Without -e and -P, parameters without a default are assumed to get valid values later.
    A template may be a URL, or - for standard input.

    Exit code 0: no errors; 2: errors, or with --strict warnings.

    \b
    Examples
      stoker validate examples/*.yaml
      stoker validate app.yaml -e production.yaml -P port=80
      stoker validate --format sarif app.yaml > findings.sarif
      ./generate | stoker validate -
    """
    require_one_stdin([*templates, *environments * len(templates)])
    found: list[Finding] = []
    texts: dict[str, str] = {}
    for template in templates:
        used = with_environment_beside(template, environments) if auto_environment else environments
        findings, documents = check(template, used, parameters)
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
