"""The prompt of ``stoker console``: reads expressions, prints values."""

from __future__ import annotations

import json
import readline
from collections.abc import Callable
from itertools import chain

import click

from stoker.cli.authoring.expressions.evaluator import Evaluator, ExpressionError

_PROMPT, _MORE = "> ", ". "
_HELP = """\
Expressions are written as in a template. Several lines end with an empty one.
  {get_param: size}
  {str_replace: {template: "a-$x", params: {$x: 1}}}
A place of the template shows its value:
  parameters.size      conditions.big      resources.server.properties.flavor      outputs
Names of functions, parameters and resources are completed with Tab. Ctrl-D ends."""


def run_prompt(evaluator: Evaluator, show: Callable[[object], None]) -> None:
    """Read and evaluate expressions until the end of the input."""
    readline.set_completer(_completer(evaluator))
    readline.set_completer_delims(" \t\n{}[],:\"'")
    readline.parse_and_bind("tab: complete")
    click.echo('Expressions of the template language; "help" shows examples, Ctrl-D ends.')
    while True:
        try:
            text = _read()
        except EOFError:
            click.echo()
            return
        except KeyboardInterrupt:
            click.echo()
            continue
        if text.strip() in ("exit", "quit"):
            return
        if text.strip() == "help":
            click.echo(_HELP)
        elif text.strip():
            try:
                show(evaluator.value(text))
            except ExpressionError as error:
                click.echo(click.style(str(error), fg="red"))


def _read() -> str:
    """Return one expression. One that is not complete continues until an empty line."""
    lines = [input(_PROMPT)]
    while lines[-1].strip() and _is_open("\n".join(lines)):
        lines.append(input(_MORE))
    return "\n".join(lines)


def _is_open(text: str) -> bool:
    """Return whether more lines belong to an expression."""
    brackets = sum(text.count(each) for each in "{[") - sum(text.count(each) for each in "}]")
    starts_block = text.rstrip().endswith((":", "|", ">"))
    return brackets > 0 or starts_block or ("\n" in text and "{" not in text)


def _completer(evaluator: Evaluator) -> Callable[[str, int], str | None]:
    names = evaluator.names()
    places = [f"{section}.{name}" for section, found in names.items() for name in found]
    words = sorted({*names, *places, *evaluator.functions(), *chain(*names.values())})

    def complete(text: str, state: int) -> str | None:
        found = [word for word in words if word.startswith(text)]
        return found[state] if state < len(found) else None

    return complete


def shown(value: object) -> str:
    """Return a value as JSON."""
    return json.dumps(value, indent=2, ensure_ascii=False)
