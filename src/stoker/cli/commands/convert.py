"""``stoker convert``: converts templates between dialects, and Compose files to templates."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import click

from stoker.cli.arguments.atomic_file import replace_text
from stoker.cli.arguments.documents import read_document
from stoker.cli.arguments.files import bundle
from stoker.cli.arguments.locations import InputFile, Location, origin_of
from stoker.cli.authoring.conversion.compose import is_compose, to_servers
from stoker.cli.authoring.conversion.losses import Converted
from stoker.cli.authoring.conversion.to_cloudformation import to_cloudformation
from stoker.cli.authoring.conversion.to_hot import to_hot
from stoker.cli.authoring.conversion.writing import as_yaml
from stoker.cli.authoring.discovery import DocumentKind, kind_of_document
from stoker.cli.console.failures import BAD_INPUT, InputError
from stoker.cli.console.findings import DocumentError, as_text, finding_of
from stoker.kernel.diagnostics import DiagnosticError
from stoker.template.source.source import Source, read


@click.command("convert")
@click.argument("document", type=InputFile())
@click.option(
    "--to",
    "target",
    type=click.Choice(["hot", "cfn"]),
    help="The dialect of the result.  [default: the other one]",
)
@click.option(
    "--output",
    type=click.Path(path_type=Path, dir_okay=False),
    metavar="FILE",
    help="Write the result into a file.",
)
@click.option("--strict", is_flag=True, help="Write nothing if a part cannot be converted.")
def command(document: Location, target: str | None, output: Path | None, strict: bool) -> None:
    """Convert DOCUMENT: HOT to CloudFormation, CloudFormation to HOT, or Compose to HOT.

    Parts that the other format cannot express are left out and listed with their lines. Comments
    are not converted. Each service of a Compose file becomes a server that runs its container.

    Exit code 0: done; 2: not a document of these formats, or with --strict a part is left out.

    \b
    Examples
      stoker convert app.yaml --to cfn --output app.template
      stoker convert vpc.template
      stoker convert compose.yaml > servers.yaml
    """
    text, origin = read_document(document), origin_of(document)
    try:
        source = read(text, origin)
    except DiagnosticError as error:
        found = [finding_of(each, origin) for each in error.diagnostics]
        raise DocumentError(found, {origin: text}) from None
    converted = _converted(document, source, target)
    losses = [finding_of(each, origin) for each in source.all_located(converted.losses)]
    if losses:
        click.echo(as_text(losses, {origin: text}), err=True)
        if strict:
            sys.exit(BAD_INPUT)
    result = as_yaml(converted.data)
    if output is None:
        click.echo(result, nl=False)
    else:
        replace_text(output, result)


def _converted(document: Location, source: Source, target: str | None) -> Converted:
    data: Any = source.data
    kind = kind_of_document(data)
    if kind is DocumentKind.HOT and target != "hot":
        return to_cloudformation(data, bundle(document).files)
    if kind is DocumentKind.CFN and target != "cfn":
        return to_hot(data)
    if is_compose(data) and target != "cfn":
        return to_servers(data)
    origin = origin_of(document)
    if kind in (DocumentKind.HOT, DocumentKind.CFN):
        raise InputError(f"{origin} is in that dialect already")
    raise InputError(f"{origin} is no HOT or CloudFormation template, and no Compose file")
