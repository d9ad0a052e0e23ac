"""``stoker completion``: the completion script of a shell."""

from __future__ import annotations

import click
from click.shell_completion import get_completion_class

_SHELLS = ("bash", "zsh", "fish")


@click.command("completion")
@click.argument("shell", type=click.Choice(_SHELLS))
@click.pass_context
def command(context: click.Context, shell: str) -> None:
    """Print the completion script of SHELL.

    \b
    Examples
      eval "$(stoker completion bash)"                        # in ~/.bashrc
      eval "$(stoker completion zsh)"                         # in ~/.zshrc
      stoker completion fish > ~/.config/fish/completions/stoker.fish
    """
    found = get_completion_class(shell)
    assert found is not None
    root = context.find_root().command
    click.echo(found(root, {}, "stoker", "_STOKER_COMPLETE").source())
