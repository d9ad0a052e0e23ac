"""``stoker fmt``: formats templates and environments."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from difflib import unified_diff
from io import StringIO
from pathlib import Path

import click

from stoker.cli.arguments.atomic_file import replace_text
from stoker.cli.arguments.documents import read_document
from stoker.cli.arguments.locations import STDIN, STDIN_NAME, origin_of
from stoker.cli.authoring.discovery import documents_in
from stoker.cli.authoring.formatting.formatter import NotFormattableError, formatted
from stoker.cli.console.failures import BAD_INPUT, FAILED, InputError
from stoker.cli.console.findings import Finding, as_text, finding_of
from stoker.kernel.diagnostics import DiagnosticError


@click.command("fmt")
@click.argument("paths", type=click.Path(path_type=Path), nargs=-1)
@click.option("--check", is_flag=True, help="Write nothing; exit with 1 if a file would change.")
@click.option("--diff", is_flag=True, help="Write nothing; print what would change.")
def command(paths: tuple[Path, ...], check: bool, diff: bool) -> None:
    """Format templates and environments: indentation, spaces and blank lines.

    PATHS are files, or directories (default: the current one), in which all templates and
    environments are found by their content. "-" formats standard input to standard output.

    Line breaks, quotes, comments and the order of keys stay. A formatted document always has the
    same data as before: this is verified before a file is written.

    Exit code 0: formatted; 1: --check found files to format; 2: a file is not valid YAML or JSON,
    or cannot be read or written.

    \b
    Examples
      stoker fmt
      stoker fmt --check templates/
      stoker fmt --diff app.yaml
      cat app.yaml | stoker fmt -
    """
    changed, failed = 0, False
    for path in documents_in(paths or (Path(),)):
        text = ""
        try:
            text = read_document(path)
            result = formatted(text, origin_of(path))
            if path == STDIN and not (check or diff):
                click.echo(result, nl=False)
            changed += _show(path, text, result, check=check, diff=diff)
        except InputError as error:
            # The files after one that cannot be read or written are formatted too.
            click.echo(f"stoker: {error.message}", err=True)
            failed = True
        except DiagnosticError as error:
            found = [finding_of(diagnostic, origin_of(path)) for diagnostic in error.diagnostics]
            click.echo(as_text(found, {origin_of(path): text}), err=True)
            failed = True
        except NotFormattableError as error:
            finding = Finding(origin_of(path), None, None, "error", "not-formattable", str(error))
            click.echo(as_text([finding], {}), err=True)
            failed = True
    if failed:
        sys.exit(BAD_INPUT)
    if check and changed:
        sys.exit(FAILED)


def _show(path: Path, text: str, result: str, *, check: bool, diff: bool) -> bool:
    """Write or show one formatted document. Return whether it changed."""
    if text == result:
        return False
    name = STDIN_NAME if path == STDIN else str(path)
    if diff:
        click.echo("".join(_difference(name, text, result)), nl=False)
    elif check:
        click.echo(name)
    elif path != STDIN:
        replace_text(path, result)
        click.echo(name)
    return True


def _difference(name: str, text: str, result: str) -> Iterator[str]:
    lines = unified_diff(
        StringIO(text).readlines(),
        StringIO(result).readlines(),
        name,
        f"{name} (formatted)",
    )
    for line in lines:
        yield line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n"
