"""``stoker schema``: JSON Schemas for editors."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import click

from stoker.cli.authoring.schemas.documents import (
    environment_schema,
    template_schema,
    versions_named,
)
from stoker.cli.authoring.template_tests.test_files import schema_of_test_files
from stoker.cli.console.failures import InputError
from stoker.resources.base.heat_catalog import WithDeclared
from stoker.resources.base.registry import Registry

_KINDS = ("hot", "cfn", "environment", "test")


@click.command("schema")
@click.argument("kind", type=click.Choice(_KINDS), required=False)
@click.option("--version", metavar="NAME", help="Only this version of the language, as 2018-08-31.")
@click.option(
    "--output",
    type=click.Path(path_type=Path, file_okay=False),
    metavar="DIRECTORY",
    help="Write all schemas into a directory.",
)
def command(kind: str | None, version: str | None, output: Path | None) -> None:
    """Print a JSON Schema of templates, environments or test files.

    Editors without a language server can use it for completion and checks. It knows all resource
    types with their properties. "stoker validate" finds more: a schema cannot follow references.

    \b
    Examples
      stoker schema hot > hot.schema.json
      stoker schema hot --version 2018-08-31
      stoker schema --output .schemas
    """
    types = WithDeclared(Registry())

    def schema(kind: str) -> Mapping[str, Any]:
        if kind == "environment":
            return environment_schema(types.names())
        if kind == "test":
            return schema_of_test_files()
        versions = versions_named(kind, version)
        if not versions:
            known = ", ".join(each.name for each in versions_named(kind))
            raise InputError(f'there is no version "{version}" of {kind}; there are {known}')
        return template_schema(versions, types, types.names())

    if output is None:
        if kind is None:
            raise InputError(f"name a kind ({', '.join(_KINDS)}), or a directory with --output")
        click.echo(_text(schema(kind)))
        return
    output.mkdir(parents=True, exist_ok=True)
    for each in [kind] if kind else _KINDS:
        path = output / f"{each}.schema.json"
        path.write_text(f"{_text(schema(each))}\n", "utf-8")
        click.echo(str(path))


def _text(schema: Mapping[str, Any]) -> str:
    return json.dumps(schema, indent=1, ensure_ascii=False, default=str)
