"""``stoker lsp``: a language server for editors."""

from __future__ import annotations

import click

from stoker.cli.authoring.language_server.server import create_server
from stoker.cli.authoring.language_server.settings import Settings
from stoker.kernel.freeing import loading


@click.command("lsp")
@click.option(
    "--stdio",
    is_flag=True,
    expose_value=False,
    help="Use the standard streams. They are always used.",
)
@click.option(
    "-e",
    "--environment",
    "environments",
    multiple=True,
    metavar="FILE",
    help="Environment file that every template is checked with. May be given several times.",
)
def command(environments: tuple[str, ...]) -> None:
    """Serve an editor: findings while you type, completion, navigation and changes.

    An editor starts it for HOT templates, environments and CloudFormation, in YAML and JSON. It
    reads the folder of the editor, uses no network unless its settings allow it, and writes no
    file. The guide "Editors" has settings for VS Code, Neovim, Helix, Emacs and JetBrains.

    \b
    Examples
      pip install "stoker[lsp]"
      stoker lsp
    """
    with loading():
        server = create_server(Settings(environment_files=environments))
    server.start_io()
