"""``stoker new``: starts a project of templates from an example."""

from __future__ import annotations

from pathlib import Path

import click

from stoker.cli.authoring.projects.examples import example_named, examples
from stoker.cli.authoring.projects.project import CI_FILES, deploy_command, write_project


def _names(context: click.Context, option: click.Parameter, incomplete: str) -> list[str]:
    return [each.name for each in examples() if each.name.startswith(incomplete)]


@click.command("new")
@click.argument("example", required=False, shell_complete=_names)
@click.argument("directory", type=click.Path(path_type=Path), required=False)
@click.option("--ci", type=click.Choice(sorted(CI_FILES)), help="Also write a CI configuration.")
def command(example: str | None, directory: Path | None, ci: str | None) -> None:
    """Start a project from EXAMPLE in DIRECTORY, which is named after it by default.

    The project has the template with its files, tests, and hooks for pre-commit. Without EXAMPLE,
    all examples are listed.

    \b
    Examples
      stoker new
      stoker new web-app
      stoker new shop my-shop --ci github
    """
    if example is None:
        found = examples()
        width = max(len(each.name) for each in found)
        click.echo("\n".join(f"{each.name:{width}}  {each.summary}" for each in found))
        return
    chosen = example_named(example)
    directory = directory or Path(chosen.name)
    for file in write_project(chosen, directory, ci):
        click.echo(f"  {directory / file}")
    click.echo(f"\nNext:\n  cd {directory}\n  stoker test\n  {deploy_command(chosen)}")
